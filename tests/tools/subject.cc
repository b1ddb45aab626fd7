/* SPDX-License-Identifier: MIT */
/* C++ functions, to be named by the symbolizer. Never run. */
#include <string>
#include <vector>

namespace subject {

struct Shape {
	virtual ~Shape() {}
	virtual double area(double scale) const = 0;
};

template <typename T> struct Box : Shape {
	T side;
	explicit Box(T s) : side(s) {}
	double area(double scale) const { return scale * side * side; }
};

__attribute__((noinline)) int overloaded(int a) { return a + 1; }
__attribute__((noinline)) int overloaded(const std::string &a)
{
	return (int)a.size();
}

template <typename T>
__attribute__((noinline)) T sum(const std::vector<T> &values)
{
	T total = 0;
	for (const T &value : values)
		total += value;
	return total;
}

} // namespace subject

int main(int argc, char **argv)
{
	subject::Box<int> a(argc);
	subject::Box<double> b(argc);
	std::vector<int> ints(argc, 1);
	std::vector<double> doubles(argc, 1.5);
	const subject::Shape *shape = &a;

	if (argc > 2)
		shape = &b;
	return subject::overloaded(argc) + subject::overloaded(argv[0]) +
	       subject::sum(ints) + (int)subject::sum(doubles) +
	       (int)shape->area(2);
}
