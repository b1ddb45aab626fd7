/* SPDX-License-Identifier: MIT */
/*
 * Libraries that the preloaded object needs in a program that writes its file itself,
 * and what happens when a thread ends inside a wrapper: loaded then, for a program
 * that a recorder collects from pays for each library that it loads and never calls.
 *
 * The functions have the names of those they stand for, and only this object sees
 * them.
 */
#include "config.h"

#include "tools/preload/preload.h"

#include "base/library.h"

#include <protobuf-c/protobuf-c.h>
#include <zlib.h>

#undef gzgetc /* a macro, too */

const char protobuf_c_empty_string[] = "";

static struct {
	__typeof__(&deflateInit2_) init;
	__typeof__(&deflate) run;
	__typeof__(&deflateReset) reset;
	__typeof__(&deflateEnd) end;
	__typeof__(&inflateInit2_) init_back;
	__typeof__(&inflate) run_back;
	__typeof__(&inflateReset) reset_back;
	__typeof__(&inflateEnd) end_back;
	__typeof__(&gzdopen) gz_open;
	__typeof__(&gzbuffer) gz_buffer;
	__typeof__(&gzgetc) gz_get;
	__typeof__(&gzrewind) gz_rewind;
	__typeof__(&gzerror) gz_error;
	__typeof__(&gzclose) gz_close;
} z;

static struct {
	__typeof__(&protobuf_c_message_get_packed_size) size;
	__typeof__(&protobuf_c_message_pack) pack;
	__typeof__(&protobuf_c_message_pack_to_buffer) pack_to;
	__typeof__(&protobuf_c_message_unpack) unpack;
	__typeof__(&protobuf_c_message_free_unpacked) free_unpacked;
} pb;

bool ppi_preload_load_late(void)
{
	static const char *const of_z[] = {
		"deflateInit2_", "deflate", "deflateReset", "deflateEnd",
		"inflateInit2_", "inflate", "inflateReset", "inflateEnd",
		"gzdopen", "gzbuffer", "gzgetc", "gzrewind", "gzerror",
		"gzclose"
	};
	static const char *const of_pb[] = {
		"protobuf_c_message_get_packed_size",
		"protobuf_c_message_pack", "protobuf_c_message_pack_to_buffer",
		"protobuf_c_message_unpack", "protobuf_c_message_free_unpacked"
	};

	return (z.init || ppi_library_load(PPI_ZLIB_FILE, of_z,
	                                   sizeof(of_z) / sizeof(of_z[0]),
	                                   &z)) &&
	       (pb.size || ppi_library_load(PPI_PROTOBUF_C_FILE, of_pb,
	                                    sizeof(of_pb) / sizeof(of_pb[0]),
	                                    &pb));
}

/* ---- zlib ---- */

int deflateInit2_(z_streamp stream, int level, int method, int window,
                  int memory, int strategy, const char *version, int bytes)
{
	return z.init(stream, level, method, window, memory, strategy, version,
	              bytes);
}

int deflate(z_streamp stream, int flush)
{
	return z.run(stream, flush);
}

int deflateReset(z_streamp stream)
{
	return z.reset(stream);
}

int deflateEnd(z_streamp stream)
{
	return z.end(stream);
}

int inflateInit2_(z_streamp stream, int window, const char *version, int bytes)
{
	return z.init_back(stream, window, version, bytes);
}

int inflate(z_streamp stream, int flush)
{
	return z.run_back(stream, flush);
}

int inflateReset(z_streamp stream)
{
	return z.reset_back(stream);
}

int inflateEnd(z_streamp stream)
{
	return z.end_back(stream);
}

gzFile gzdopen(int fd, const char *mode)
{
	return z.gz_open(fd, mode);
}

int gzbuffer(gzFile file, unsigned bytes)
{
	return z.gz_buffer(file, bytes);
}

int gzgetc(gzFile file)
{
	return z.gz_get(file);
}

int gzrewind(gzFile file)
{
	return z.gz_rewind(file);
}

const char *gzerror(gzFile file, int *error)
{
	return z.gz_error(file, error);
}

int gzclose(gzFile file)
{
	return z.gz_close(file);
}

/* ---- protobuf-c ---- */

size_t protobuf_c_message_get_packed_size(const ProtobufCMessage *message)
{
	return pb.size(message);
}

size_t protobuf_c_message_pack(const ProtobufCMessage *message, uint8_t *out)
{
	return pb.pack(message, out);
}

size_t protobuf_c_message_pack_to_buffer(const ProtobufCMessage *message,
                                         ProtobufCBuffer *buffer)
{
	return pb.pack_to(message, buffer);
}

ProtobufCMessage *protobuf_c_message_unpack(
	const ProtobufCMessageDescriptor *descriptor,
	ProtobufCAllocator *allocator, size_t bytes, const uint8_t *data)
{
	return pb.unpack(descriptor, allocator, bytes, data);
}

void protobuf_c_message_free_unpacked(ProtobufCMessage *message,
                                      ProtobufCAllocator *allocator)
{
	pb.free_unpacked(message, allocator);
}

/* ---- libgcc_s, which is loaded where a thread is unwound ---- */

#if defined(__GLIBC__) && !defined(__arm__)
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

/* The program's own unwinder first: it may be another one. */
static void find(const char *name, void *function)
{
	void *found = dlsym(RTLD_DEFAULT, name);
	void *library = found ? NULL : dlopen("libgcc_s.so.1", RTLD_LAZY);

	if (library)
		found = dlsym(library, name);
	if (!found)
		abort(); /* as the C library does */
	memcpy(function, &found, sizeof(found));
}

/* Where a cleanup has been done. */
__attribute__((used)) void _Unwind_Resume(struct _Unwind_Exception *exception)
{
	static void (*resume)(struct _Unwind_Exception *);

	if (!resume)
		find("_Unwind_Resume", &resume);
	resume(exception);
	abort();
}

typedef _Unwind_Reason_Code personality(int, _Unwind_Action,
                                        _Unwind_Exception_Class,
                                        struct _Unwind_Exception *,
                                        struct _Unwind_Context *);

personality __gcc_personality_v0;

/* What cleanups a frame of ours has. */
__attribute__((used)) _Unwind_Reason_Code
__gcc_personality_v0(int version, _Unwind_Action actions,
                     _Unwind_Exception_Class kind,
                     struct _Unwind_Exception *exception,
                     struct _Unwind_Context *context)
{
	static personality *look;

	if (!look)
		find("__gcc_personality_v0", &look);
	return look(version, actions, kind, exception, context);
}
#endif
