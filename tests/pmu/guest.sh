# SPDX-License-Identifier: MIT
# The guest: what it consists of, and how it is started. Sourced by run, which
# sets $srcdir and $here. Each step keeps what it made and goes by content: it
# does again only what would come out differently.
# shellcheck shell=sh disable=SC2034,SC2154

debian=arm64
host=aarch64-linux-gnu
kernel=linux-image-cloud-arm64
libraries='libcmocka0 libcmocka-dev libprotobuf-c1 libprotobuf-c-dev zlib1g
	zlib1g-dev libpfm4 libpfm4-dev libelf1 libelf-dev libdw1 libdw-dev
	liblzma5 libbz2-1.0'
root=$here/root
. "$srcdir/tests/tools/shell.sh"
: "${MAKE:=make}" "${PORTPROF_PMU_TIMEOUT:=1200}"

# quietly LOG COMMAND...: false when it fails; the end of the log is shown
quietly() {
	log=$here/$1.log
	shift
	"$@" >"$log" 2>&1 </dev/null && return 0
	tail -n 20 "$log" | sed 's/^/# /'
	echo "# failed, see $log: $*"
	return 1
}

### What it takes

# Prints why there can be no guest here; nothing when there can.
lacking() {
	missing=
	for pair in qemu-system-aarch64=qemu-system-arm \
		$host-gcc=gcc-aarch64-linux-gnu cpio=cpio apt-get=apt \
		dpkg-deb=dpkg; do
		command -v "${pair%%=*}" >/dev/null ||
			missing="$missing ${pair#*=}"
	done
	[ -n "$missing" ] || echo 'int main(void) { return 0; }' |
		$host-gcc -static -x c - -o "$here/try" 2>/dev/null ||
		missing=' libc6-dev-arm64-cross'
	[ -z "$missing" ] || {
		echo "needs on Debian, not here:$missing"
		return
	}
	[ -f /usr/include/uthash.h ] || echo "needs uthash-dev"
}

### Packages

# The kernel package that the name of its newest stands for.
real_kernel() {
	foreign_apt apt-cache show "$kernel" 2>/dev/null |
		sed -n 's/^Depends:.*\(linux-image-[^ ,]*\).*/\1/p' | head -n 1
}

# Kernel and libraries. False, with the reason in $reason, when they cannot be
# had: no network, or no such packages where this system gets its own.
fetch() {
	wanted="$kernel $libraries"
	[ "$wanted" != "$(cat "$root/.done" 2>/dev/null)" ] || return 0
	rm -rf "$root" "$here/debs"
	mkdir -p "$root/usr/include"
	foreign_begin
	foreign_apt apt-get -o Acquire::Retries=2 update \
		>"$here/apt-update.log" 2>&1 </dev/null
	image=$(real_kernel)
	[ -n "$image" ] || {
		reason="no package $kernel: $(apt_says apt-update)"
		return 1
	}
	# shellcheck disable=SC2086
	(cd "$here/debs" && foreign_apt apt-get -o Acquire::Retries=2 download \
		"$image" $libraries) >"$here/apt-download.log" 2>&1 </dev/null || {
		reason="cannot fetch packages: $(apt_says apt-download)"
		return 1
	}
	unpack || return 1
	rm -rf "$here/debs"
	echo "$wanted" >"$root/.done"
}

# What apt complained of first, on one line.
apt_says() {
	sed -n '/^[EW]: /{p;q;}' "$here/$1.log" | cut -c 1-200
}

unpack() {
	reason="cannot unpack packages"
	for package in "$here"/debs/*.deb; do
		case $package in
		*/linux-image-*)
			dpkg-deb --fsys-tarfile "$package" |
				tar -xf - -C "$root" --wildcards './boot/vmlinuz-*'
			;;
		*) dpkg-deb -x "$package" "$root" ;;
		esac || return 1
	done
	cp /usr/include/uthash.h "$root/usr/include/"
	mv "$root"/boot/vmlinuz-* "$root/vmlinuz"
}

### Library, suite and command

# No debug information: nobody debugs in there, and it is half of the time. What
# `make check` tells its tests of this machine's tools is not for the guest.
configure_guest() {
	set -- "$srcdir/configure" --host=$host --enable-werror \
		--disable-shared CC=$host-gcc CXX=no NM=$host-nm CFLAGS='-O2' \
		CPPFLAGS="-I$root/usr/include -I$root/usr/include/$host" \
		LDFLAGS="-L$root/usr/lib/$host -L$root/lib/$host \
			-Wl,-rpath-link,$root/usr/lib/$host:$root/lib/$host"
	[ "$*" != "$(cat "$here/build/.configured" 2>/dev/null)" ] || return 0
	rm -rf "$here/build"
	mkdir -p "$here/build"
	(cd "$here/build" && make_depfiles && quietly configure env \
		PKG_CONFIG_LIBDIR="$root/usr/lib/$host/pkgconfig" \
		PKG_CONFIG_SYSROOT_DIR="$root" "$@") || return 1
	echo "$*" >"$here/build/.configured"
}

# make_guest TARGET...: flags of the make that runs the tests are not for it
make_guest() {
	(
		MAKEFLAGS='' MFLAGS=''
		export MAKEFLAGS MFLAGS
		"$MAKE" -s -C "$here/build" \
			-j "$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)" \
			"$@"
	)
}

build_guest() {
	configure_guest && quietly build make_guest libportprof-core.la \
		portprof pmu-programs
}

### The image

# Libraries of $host: the compiler's own and those that were fetched.
copy_libraries() {
	for name in ld-linux-aarch64.so.1 libc.so.6 libm.so.6 libgcc_s.so.1; do
		cp "$($host-gcc -print-file-name=$name)" "$1/" || return 1
	done
	for name in cmocka.so.0 pfm.so.4 protobuf-c.so.1 elf.so.1 \
		z.so.1 dw.so.1 lzma.so.5 bz2.so.1.0; do
		cp "$root/usr/lib/$host/lib$name" "$1/" 2>/dev/null ||
			cp "$root/lib/$host/lib$name" "$1/" || return 1
	done
}

# archive FOLDER FILE: what the kernel unpacks at its start
archive() {
	(cd "$1" && find . | LC_ALL=C sort | cpio -o -H newc --quiet -R 0:0) \
		>"$2"
}

pack() {
	tree=$here/tree
	rm -rf "$tree"
	mkdir -p "$tree/bin" "$tree/lib"
	quietly init $host-gcc -std=gnu11 -Wall -Wextra -Werror -O2 -static \
		-o "$tree/init" "$srcdir/tests/pmu/init.c" || return 1
	quietly libraries copy_libraries "$tree/lib" || return 1
	cp "$here/build/portprof" "$here"/build/tests/pmu/pmu_* \
		"$here/build/tests/conform/conform_perf_real" \
		"$here/build/tests/unit/test_event_tables" \
		"$here/build/tests/unit/test_unwind" \
		"$here/build/tests/unit/test_frame_table" \
		"$here/build/tests/unit/test_file_returns" "$tree/bin/" ||
		return 1
	rm -f "$tree"/bin/*.o
	archive "$tree" "$here/base.cpio"
}

### A boot

# boot NAME CPU CPUS: runs the lines of NAME/tree/commands there, with all else
# that is in NAME/tree; what it printed is in NAME.console then.
#
# -icount: the guest's clock is the number of instructions, so that all counts
# come out the same each time, whatever else this machine does.
boot() {
	archive "$here/$1/tree" "$here/$1/cpio"
	cat "$here/base.cpio" "$here/$1/cpio" >"$here/$1/initrd"
	timeout -k 5 "$PORTPROF_PMU_TIMEOUT" qemu-system-aarch64 -M virt \
		-cpu "$2" -smp "$3" -icount shift=0,sleep=off -m 512 \
		-nodefaults -nic none -display none -serial stdio -no-reboot \
		-kernel "$root/vmlinuz" -initrd "$here/$1/initrd" \
		-append 'console=ttyAMA0 loglevel=3 panic=-1' \
		</dev/null 2>"$here/$1.qemu.log" |
		tr -d '\r' >"$here/$1.console"
}
