! SPDX-License-Identifier: MIT
! What portprof.f90 stands on: the constants, types and functions of the C library
! by iso_c_binding, a test compares them with the headers. Programs use portprof.
module portprof_c
  use, intrinsic :: iso_c_binding
  implicit none
  private

  public :: portprof_config_new, portprof_last_diag, portprof_version
  public :: portprof_config_free, portprof_group_close, portprof_regions_close
  public :: portprof_session_start, portprof_session_stop
  public :: portprof_session_flush, portprof_session_reset
  public :: portprof_session_close, portprof_group_start, portprof_group_stop
  public :: portprof_group_reset, portprof_session_event_count
  public :: portprof_group_event_count, portprof_regions_event_count
  public :: portprof_region_depth, portprof_session_caps
  public :: portprof_session_backend, portprof_group_backend
  public :: portprof_session_note, portprof_group_event_diag
  public :: portprof_session_stats, portprof_session_event
  public :: portprof_session_sink_stats, portprof_group_event
  public :: portprof_regions_event, portprof_region_end_to
  public :: portprof_config_set_frequency, portprof_config_set_period
  public :: portprof_config_require, portprof_config_add_event
  public :: portprof_config_set_backend, portprof_config_write_to
  public :: portprof_region_begin, portprof_region_end, portprof_config_set
  public :: portprof_config_load, portprof_config_set_target_system
  public :: portprof_config_set_number, portprof_group_set_number
  public :: portprof_session_open, portprof_group_open_config
  public :: portprof_config_set_target, portprof_config_add_histogram
  public :: portprof_config_add_label_histogram
  public :: portprof_config_add_array, portprof_config_add_callback
  public :: portprof_config_add_range_callback, portprof_session_fd
  public :: portprof_session_set_number, portprof_group_open
  public :: portprof_group_read, portprof_group_event_read
  public :: portprof_regions_open, portprof_regions_read, portprof_region_read
  public :: portprof_batch_name, portprof_batch_module, portprof_batch_chain
  public :: portprof_label_set_new, portprof_label_enter, portprof_label_leave
  public :: portprof_label_current, portprof_label_push, portprof_label_pop
  public :: portprof_status_text, strlen

  ! Statuses: what a function returns.
  integer(c_int), parameter, public :: PORTPROF_END = 1
  integer(c_int), parameter, public :: PORTPROF_OK = 0
  integer(c_int), parameter, public :: PORTPROF_E_INVALID = -1
  integer(c_int), parameter, public :: PORTPROF_E_UNSUPPORTED = -2
  integer(c_int), parameter, public :: PORTPROF_E_DENIED = -3
  integer(c_int), parameter, public :: PORTPROF_E_BUSY = -4
  integer(c_int), parameter, public :: PORTPROF_E_NOMEM = -5
  integer(c_int), parameter, public :: PORTPROF_E_NOTFOUND = -6
  integer(c_int), parameter, public :: PORTPROF_E_LIMIT = -7
  integer(c_int), parameter, public :: PORTPROF_E_STATE = -8
  integer(c_int), parameter, public :: PORTPROF_E_FORKED = -9
  integer(c_int), parameter, public :: PORTPROF_E_SYSTEM = -10
  integer(c_int), parameter, public :: PORTPROF_E_FORMAT = -11

  ! Reasons: what stands behind a status.
  integer(c_int), parameter, public :: PORTPROF_REASON_NONE = 0
  integer(c_int), parameter, public :: PORTPROF_REASON_ARGUMENT = 1
  integer(c_int), parameter, public :: PORTPROF_REASON_SYNTAX = 2
  integer(c_int), parameter, public :: PORTPROF_REASON_PART = 3
  integer(c_int), parameter, public :: PORTPROF_REASON_UNKNOWN_NAME = 4
  integer(c_int), parameter, public :: PORTPROF_REASON_NO_BACKEND = 5
  integer(c_int), parameter, public :: PORTPROF_REASON_BACKEND_LIMIT = 6
  integer(c_int), parameter, public :: PORTPROF_REASON_NOT_ON_CPU = 7
  integer(c_int), parameter, public :: PORTPROF_REASON_NEEDS_RIGHT = 8
  integer(c_int), parameter, public :: PORTPROF_REASON_NEEDS_TRACING = 9
  integer(c_int), parameter, public :: PORTPROF_REASON_NEEDS_MOUNT = 10
  integer(c_int), parameter, public :: PORTPROF_REASON_LIMIT = 11
  integer(c_int), parameter, public :: PORTPROF_REASON_IN_USE = 12
  integer(c_int), parameter, public :: PORTPROF_REASON_NO_MEMORY = 13
  integer(c_int), parameter, public :: PORTPROF_REASON_TARGET_GONE = 14
  integer(c_int), parameter, public :: PORTPROF_REASON_OUTPUT = 15
  integer(c_int), parameter, public :: PORTPROF_REASON_FORMAT = 16
  integer(c_int), parameter, public :: PORTPROF_REASON_STATE = 17
  integer(c_int), parameter, public :: PORTPROF_REASON_FORKED = 18
  integer(c_int), parameter, public :: PORTPROF_REASON_SYSTEM = 19
  integer(c_int), parameter, public :: PORTPROF_REASON_NOT_SUPPORTED = 20

  ! portprof_config_set_target: whom to measure.
  integer(c_int), parameter, public :: PORTPROF_TARGET_PROCESS = 0
  integer(c_int), parameter, public :: PORTPROF_TARGET_THREAD = 1
  integer(c_int), parameter, public :: PORTPROF_TARGET_TID = 2
  integer(c_int), parameter, public :: PORTPROF_TARGET_PID = 3
  integer(c_int), parameter, public :: PORTPROF_TARGET_COMMAND = 4
  integer(c_int), parameter, public :: PORTPROF_TARGET_ALSO_PID = 5

  ! portprof_config_add_histogram: what a bin counts.
  integer(c_int), parameter, public :: PORTPROF_BINS_TICKS = 0
  integer(c_int), parameter, public :: PORTPROF_BINS_WEIGHT = 1

  ! portprof_regions_read: what is kept apart, added up.
  integer(c_int), parameter, public :: PORTPROF_REGIONS_BY_THREAD = 1
  integer(c_int), parameter, public :: PORTPROF_REGIONS_BY_LABELS = 2

  ! The member status of portprof_count.
  integer(c_int64_t), parameter, public :: PORTPROF_COUNT_OK = 0
  integer(c_int64_t), parameter, public :: PORTPROF_COUNT_SCALED = 1
  integer(c_int64_t), parameter, public :: PORTPROF_COUNT_NEVER_RAN = 2
  integer(c_int64_t), parameter, public :: PORTPROF_COUNT_ERROR = 3
  integer(c_int64_t), parameter, public :: PORTPROF_COUNT_REFUSED = 4

  ! The member unit of portprof_event_info, and certainties of portprof_stats.
  integer(c_int), parameter, public :: PORTPROF_UNIT_NANOSECONDS = 1
  integer(c_int), parameter, public :: PORTPROF_UNIT_COUNT = 2
  integer(c_int32_t), parameter, public :: PORTPROF_UNKNOWN = 0
  integer(c_int32_t), parameter, public :: PORTPROF_EXACT = 1

  ! Kinds of records, and the bits of their member valid that programs ask for.
  integer(c_int32_t), parameter, public :: PORTPROF_RECORD_SAMPLE = 1
  integer(c_int32_t), parameter, public :: PORTPROF_RECORD_MODULE = 2
  integer(c_int32_t), parameter, public :: PORTPROF_RECORD_THREAD = 3
  integer(c_int32_t), parameter, public :: PORTPROF_RECORD_EXIT = 4
  integer(c_int32_t), parameter, public :: PORTPROF_RECORD_FORK = 5
  integer(c_int32_t), parameter, public :: PORTPROF_FIELD_PID = 1
  integer(c_int32_t), parameter, public :: PORTPROF_FIELD_TID = 2
  integer(c_int32_t), parameter, public :: PORTPROF_FIELD_CPU = 4
  integer(c_int32_t), parameter, public :: PORTPROF_FIELD_TIME = 8
  integer(c_int32_t), parameter, public :: PORTPROF_FIELD_KERNEL = 32
  integer(c_int32_t), parameter, public :: PORTPROF_FIELD_CHAIN = 64
  integer(c_int32_t), parameter, public :: PORTPROF_FIELD_NOT_SEEN = 1048576

  ! portprof_config_require, portprof_session_caps: bits of capabilities.
  integer(c_int64_t), parameter, public :: PORTPROF_CAP_SAMPLE = 1
  integer(c_int64_t), parameter, public :: PORTPROF_CAP_COUNT = 2
  integer(c_int64_t), parameter, public :: PORTPROF_CAP_GROUP = 4
  integer(c_int64_t), parameter, public :: PORTPROF_CAP_EVENTS = 8
  integer(c_int64_t), parameter, public :: PORTPROF_CAP_HARDWARE = 16
  integer(c_int64_t), parameter, public :: PORTPROF_CAP_EXACT_PC = 32
  integer(c_int64_t), parameter, public :: PORTPROF_CAP_KERNEL = 128
  integer(c_int64_t), parameter, public :: PORTPROF_CAP_CHAIN = 256
  integer(c_int64_t), parameter, public :: PORTPROF_CAP_PID_TID = 512
  integer(c_int64_t), parameter, public :: PORTPROF_CAP_TIME = 1024
  integer(c_int64_t), parameter, public :: PORTPROF_CAP_CPU = 2048
  integer(c_int64_t), parameter, public :: PORTPROF_CAP_PROCESS = 4096
  integer(c_int64_t), parameter, public :: PORTPROF_CAP_THREAD = 8192
  integer(c_int64_t), parameter, public :: PORTPROF_CAP_ATTACH = 16384
  integer(c_int64_t), parameter, public :: PORTPROF_CAP_CHILDREN = 32768
  integer(c_int64_t), parameter, public :: PORTPROF_CAP_SYSTEM = 1048576
  integer(c_int64_t), parameter, public :: PORTPROF_CAP_UNWIND = 8388608
  integer(c_int64_t), parameter, public :: PORTPROF_CAP_WAITS = 33554432

  ! A reading of a counter.
  type, bind(c), public :: portprof_count
    integer(c_int64_t) :: raw
    integer(c_int64_t) :: scaled
    integer(c_int64_t) :: enabled_ns
    integer(c_int64_t) :: running_ns
    integer(c_int64_t) :: status
    integer(c_int64_t) :: taken_ns
  end type portprof_count

  ! What a region counted. name: portprof_string_f; counts: c_f_pointer.
  type, bind(c), public :: portprof_region_info
    integer(c_size_t) :: size
    type(c_ptr) :: name
    integer(c_int64_t) :: calls
    integer(c_int64_t) :: threads
    integer(c_int64_t) :: tid
    type(c_ptr) :: counts
    integer(c_size_t) :: count
    type(c_ptr) :: labels
    integer(c_size_t) :: label_count
  end type portprof_region_info

  type, bind(c), public :: portprof_label
    type(c_ptr) :: key
    type(c_ptr) :: value
  end type portprof_label

  ! Why a call failed. Texts: portprof_chars_f. line and column: from 1, or 0.
  type, bind(c), public :: portprof_diag
    integer(c_int) :: status
    integer(c_int) :: os_errno
    character(kind=c_char) :: step(64)
    character(kind=c_char) :: words(960)
    integer(c_int) :: reason
    character(kind=c_char) :: place(256)
    integer(c_int) :: line
    integer(c_int) :: column
    character(kind=c_char) :: suggestions(96, 3)
  end type portprof_diag

  ! What an event string means. Texts: portprof_string_f.
  type, bind(c), public :: portprof_event_info
    integer(c_size_t) :: size
    integer(c_int) :: unit
    type(c_ptr) :: canonical
    type(c_ptr) :: description
    integer(c_int64_t) :: period
    integer(c_int64_t) :: rate_hz
    integer(c_int32_t) :: counts_user
    integer(c_int32_t) :: counts_kernel
    integer(c_int32_t) :: counts_hypervisor
    integer(c_int32_t) :: is_counted_only
    type(c_ptr) :: pmu
    type(c_ptr) :: encoding
    type(c_ptr) :: scaled_unit
    real(c_double) :: scale
  end type portprof_event_info

  ! The account of an event: delivered = kept + outside + lost, and
  ! total_weight = kept + outside + unattributed - excess.
  type, bind(c), public :: portprof_stats
    integer(c_size_t) :: size
    integer(c_int64_t) :: delivered_samples
    integer(c_int64_t) :: kept_samples
    integer(c_int64_t) :: outside_samples
    integer(c_int64_t) :: lost_samples
    integer(c_int64_t) :: total_weight
    integer(c_int64_t) :: kept_weight
    integer(c_int64_t) :: outside_weight
    integer(c_int64_t) :: unattributed_weight
    integer(c_int64_t) :: not_attached_weight
    integer(c_int64_t) :: throttled
    integer(c_int64_t) :: cpu_time_ns
    integer(c_int64_t) :: own_cost_ns
    integer(c_int32_t) :: lost_certainty
    integer(c_int32_t) :: unattributed_certainty
    real(c_double) :: requested_hz
    real(c_double) :: granted_hz
    real(c_double) :: achieved_hz
    integer(c_int64_t) :: requested_period
    integer(c_int64_t) :: granted_period
    integer(c_int64_t) :: excess_weight
    integer(c_int64_t) :: standard_error
    integer(c_int64_t) :: idle_time_ns
  end type portprof_stats

  ! What one sink did: a histogram, an array, a callback or a file.
  type, bind(c), public :: portprof_sink_stats
    integer(c_size_t) :: size
    integer(c_int64_t) :: kept_samples
    integer(c_int64_t) :: kept_weight
    integer(c_int64_t) :: outside_samples
    integer(c_int64_t) :: outside_weight
    integer(c_int64_t) :: lost_samples
    integer(c_int64_t) :: lost_weight
    integer(c_int64_t) :: saturated_bins
    integer(c_int32_t) :: status
    integer(c_int32_t) :: os_errno
  end type portprof_sink_stats

  ! A range of text and its bins: bins = c_loc of a target of bin_count integers
  ! of bin_bits each. A bin is 131072 / scale bytes of text.
  type, bind(c), public :: portprof_range
    integer(c_int64_t) :: offset
    integer(c_int32_t) :: scale
    integer(c_int32_t) :: bin_bits
    type(c_ptr) :: bins
    integer(c_size_t) :: bin_count
  end type portprof_range

  ! What a callback gets; portprof_batch_record has its records.
  type, bind(c), public :: portprof_batch
    type(c_ptr) :: records
    integer(c_size_t) :: count
    type(c_ptr) :: words
    integer(c_size_t) :: word_count
    integer(c_size_t) :: record_bytes
  end type portprof_batch

  ! A record: `samples` ticks with a total of `weight` fell in
  ! [address, address + span) for the event with the number `event`.
  type, bind(c), public :: portprof_record
    integer(c_int32_t) :: kind
    integer(c_int32_t) :: valid
    integer(c_int32_t) :: event
    integer(c_int32_t) :: cpu
    integer(c_int32_t) :: pid
    integer(c_int32_t) :: tid
    integer(c_int64_t) :: time_ns
    integer(c_int64_t) :: address
    integer(c_int64_t) :: span
    integer(c_int64_t) :: weight
    integer(c_int64_t) :: samples
    integer(c_int64_t) :: user_address
    integer(c_int64_t) :: payload
    integer(c_int64_t) :: payload_words
    integer(c_int64_t) :: data_address
    integer(c_int64_t) :: latency
    integer(c_int64_t) :: branches
    integer(c_int64_t) :: branch_count
    integer(c_int64_t) :: values
    integer(c_int64_t) :: value_count
    integer(c_int64_t) :: chain_end
    integer(c_int64_t) :: data_source
    integer(c_int64_t) :: instruction_latency
    integer(c_int64_t) :: transaction
    integer(c_int64_t) :: physical_address
    integer(c_int64_t) :: data_page_bytes
    integer(c_int64_t) :: code_page_bytes
    integer(c_int64_t) :: event_fields
    integer(c_int64_t) :: event_field_words
    integer(c_int64_t) :: label_set
  end type portprof_record

  ! A field of an event, such as the kind of wait; its text follows in memory.
  type, bind(c), public :: portprof_event_field
    integer(c_int32_t) :: index
    integer(c_int32_t) :: text_bytes
    integer(c_int64_t) :: number
  end type portprof_event_field

  ! The functions, each with an interface of its own: gfortran loses VALUE of those
  ! that are declared by a common one. Those with text or an index have a _f in
  ! portprof.f90, which programs call.
  interface
    type(c_ptr) function portprof_config_new() bind(c)
      import
    end function
    type(c_ptr) function portprof_last_diag() bind(c)
      import
    end function
    type(c_ptr) function portprof_version() bind(c)
      import
    end function
    subroutine portprof_config_free(config) bind(c)
      import
      type(c_ptr), value :: config
    end subroutine
    subroutine portprof_group_close(group) bind(c)
      import
      type(c_ptr), value :: group
    end subroutine
    subroutine portprof_regions_close(regions) bind(c)
      import
      type(c_ptr), value :: regions
    end subroutine
    integer(c_int) function portprof_session_start(session) bind(c)
      import
      type(c_ptr), value :: session
    end function
    integer(c_int) function portprof_session_stop(session) bind(c)
      import
      type(c_ptr), value :: session
    end function
    integer(c_int) function portprof_session_flush(session) bind(c)
      import
      type(c_ptr), value :: session
    end function
    integer(c_int) function portprof_session_reset(session) bind(c)
      import
      type(c_ptr), value :: session
    end function
    integer(c_int) function portprof_session_close(session) bind(c)
      import
      type(c_ptr), value :: session
    end function
    integer(c_int) function portprof_group_start(group) bind(c)
      import
      type(c_ptr), value :: group
    end function
    integer(c_int) function portprof_group_stop(group) bind(c)
      import
      type(c_ptr), value :: group
    end function
    integer(c_int) function portprof_group_reset(group) bind(c)
      import
      type(c_ptr), value :: group
    end function
    integer(c_size_t) function portprof_session_event_count(session) bind(c)
      import
      type(c_ptr), value :: session
    end function
    integer(c_size_t) function portprof_group_event_count(group) bind(c)
      import
      type(c_ptr), value :: group
    end function
    integer(c_size_t) function portprof_regions_event_count(regions) bind(c)
      import
      type(c_ptr), value :: regions
    end function
    integer(c_size_t) function portprof_region_depth(regions) bind(c)
      import
      type(c_ptr), value :: regions
    end function
    integer(c_int64_t) function portprof_session_caps(session) bind(c)
      import
      type(c_ptr), value :: session
    end function
    type(c_ptr) function portprof_session_backend(session) bind(c)
      import
      type(c_ptr), value :: session
    end function
    type(c_ptr) function portprof_group_backend(group) bind(c)
      import
      type(c_ptr), value :: group
    end function
    type(c_ptr) function portprof_session_note(session, index) bind(c)
      import
      type(c_ptr), value :: session
      integer(c_size_t), value :: index
    end function
    type(c_ptr) function portprof_group_event_diag(group, index) bind(c)
      import
      type(c_ptr), value :: group
      integer(c_size_t), value :: index
    end function
    integer(c_int) function portprof_session_stats(session, index, into) bind(c)
      import
      type(c_ptr), value :: session, into
      integer(c_size_t), value :: index
    end function
    integer(c_int) function portprof_session_event(session, index, into) bind(c)
      import
      type(c_ptr), value :: session, into
      integer(c_size_t), value :: index
    end function
    integer(c_int) function portprof_session_sink_stats( &
        session, index, into) bind(c)
      import
      type(c_ptr), value :: session, into
      integer(c_size_t), value :: index
    end function
    integer(c_int) function portprof_group_event(group, index, into) bind(c)
      import
      type(c_ptr), value :: group, into
      integer(c_size_t), value :: index
    end function
    integer(c_int) function portprof_regions_event(regions, index, into) bind(c)
      import
      type(c_ptr), value :: regions, into
      integer(c_size_t), value :: index
    end function
    integer(c_int) function portprof_region_end_to(regions, depth) bind(c)
      import
      type(c_ptr), value :: regions
      integer(c_size_t), value :: depth
    end function
    integer(c_int) function portprof_config_set_frequency( &
        config, hz) bind(c)
      import
      type(c_ptr), value :: config
      integer(c_int64_t), value :: hz
    end function
    integer(c_int) function portprof_config_set_period(config, period) bind(c)
      import
      type(c_ptr), value :: config
      integer(c_int64_t), value :: period
    end function
    integer(c_int) function portprof_config_require(config, caps) bind(c)
      import
      type(c_ptr), value :: config
      integer(c_int64_t), value :: caps
    end function
    integer(c_int) function portprof_config_add_event(config, event) bind(c)
      import
      type(c_ptr), value :: config
      character(kind=c_char), intent(in) :: event(*)
    end function
    integer(c_int) function portprof_config_set_backend(config, name) bind(c)
      import
      type(c_ptr), value :: config
      character(kind=c_char), intent(in) :: name(*)
    end function
    integer(c_int) function portprof_config_write_to(config, path) bind(c)
      import
      type(c_ptr), value :: config
      character(kind=c_char), intent(in) :: path(*)
    end function
    integer(c_int) function portprof_region_begin(regions, name) bind(c)
      import
      type(c_ptr), value :: regions
      character(kind=c_char), intent(in) :: name(*)
    end function
    integer(c_int) function portprof_region_end(regions, name) bind(c)
      import
      type(c_ptr), value :: regions
      character(kind=c_char), intent(in) :: name(*)
    end function
    integer(c_int) function portprof_config_set(config, key, val) bind(c)
      import
      type(c_ptr), value :: config
      character(kind=c_char), intent(in) :: key(*), val(*)
    end function
    integer(c_int) function portprof_config_load(config, path, set) bind(c)
      import
      type(c_ptr), value :: config, path, set
    end function
    integer(c_int) function portprof_config_set_target_system( &
        config, among, cpus) bind(c)
      import
      type(c_ptr), value :: config, among, cpus
    end function
    integer(c_int) function portprof_config_set_number( &
        config, key, number) bind(c)
      import
      type(c_ptr), value :: config
      character(kind=c_char), intent(in) :: key(*)
      integer(c_int64_t), value :: number
    end function
    integer(c_int) function portprof_group_set_number( &
        group, key, number) bind(c)
      import
      type(c_ptr), value :: group
      character(kind=c_char), intent(in) :: key(*)
      integer(c_int64_t), value :: number
    end function
    integer(c_int) function portprof_session_open(config, session) bind(c)
      import
      type(c_ptr), value :: config
      type(c_ptr), intent(inout) :: session
    end function
    integer(c_int) function portprof_group_open_config(config, group) bind(c)
      import
      type(c_ptr), value :: config
      type(c_ptr), intent(inout) :: group
    end function
    integer(c_int) function portprof_config_set_target( &
        config, target, id) bind(c)
      import
      type(c_ptr), value :: config
      integer(c_int), value :: target
      integer(c_int64_t), value :: id
    end function
    ! The bins are counted up until the session is stopped.
    integer(c_int) function portprof_config_add_histogram( &
        config, event, ranges, count, unit) bind(c)
      import
      type(c_ptr), value :: config
      integer(c_size_t), value :: event, count
      type(portprof_range), intent(in) :: ranges(count)
      integer(c_int), value :: unit
    end function
    ! The same of samples whose thread was in a set with all of these labels, of
    ! portprof_label_set_new; all others are outside.
    integer(c_int) function portprof_config_add_label_histogram( &
        config, event, ranges, count, unit, labels) bind(c)
      import
      type(c_ptr), value :: config, labels
      integer(c_size_t), value :: event, count
      type(portprof_range), intent(in) :: ranges(count)
      integer(c_int), value :: unit
    end function
    ! pcs: c_loc of a target of `room` integers (c_int64_t).
    integer(c_int) function portprof_config_add_array(config, pcs, room) bind(c)
      import
      type(c_ptr), value :: config, pcs
      integer(c_size_t), value :: room
    end function
    ! take: c_funloc of a bind(c) subroutine of (type(portprof_batch), intent(in),
    ! and type(c_ptr), value). It may run in a thread of the library.
    integer(c_int) function portprof_config_add_callback( &
        config, take, context) bind(c)
      import
      type(c_ptr), value :: config, context
      type(c_funptr), value :: take
    end function
    integer(c_int) function portprof_config_add_range_callback( &
        config, ranges, count, take, context) bind(c)
      import
      type(c_ptr), value :: config, context
      integer(c_size_t), value :: count
      type(portprof_range), intent(in) :: ranges(count)
      type(c_funptr), value :: take
    end function
    integer(c_int) function portprof_session_fd(session, fd) bind(c)
      import
      type(c_ptr), value :: session
      integer(c_int), intent(inout) :: fd
    end function
    integer(c_int) function portprof_session_set_number( &
        session, event, key, number) bind(c)
      import
      type(c_ptr), value :: session
      integer(c_size_t), value :: event
      character(kind=c_char), intent(in) :: key(*)
      integer(c_int64_t), value :: number
    end function
    integer(c_int) function portprof_group_open(events, group) bind(c)
      import
      character(kind=c_char), intent(in) :: events(*)
      type(c_ptr), intent(inout) :: group
    end function
    integer(c_int) function portprof_group_read(group, counts, count) bind(c)
      import
      type(c_ptr), value :: group
      integer(c_size_t), value :: count
      type(portprof_count), intent(inout) :: counts(count)
    end function
    integer(c_int) function portprof_group_event_read( &
        group, index, count) bind(c)
      import
      type(c_ptr), value :: group
      integer(c_size_t), value :: index
      type(portprof_count), intent(inout) :: count
    end function
    ! config: c_null_ptr for the default event. regions: c_null_ptr for the
    ! process's own set, or c_loc of a type(c_ptr) that gets a set's handle.
    ! In all functions of regions, c_null_ptr is the process's own set.
    integer(c_int) function portprof_regions_open(config, regions) bind(c)
      import
      type(c_ptr), value :: config, regions
    end function
    ! take: c_funloc of a bind(c) function of (type(portprof_region_info),
    ! intent(in), and type(c_ptr), value) that returns 0_c_int to continue.
    integer(c_int) function portprof_regions_read( &
        regions, by, take, context) bind(c)
      import
      type(c_ptr), value :: regions
      integer(c_int), value :: by
      type(c_funptr), value :: take
      type(c_ptr), value :: context
    end function
    integer(c_int) function portprof_region_read( &
        regions, name, counts, count) bind(c)
      import
      type(c_ptr), value :: regions
      character(kind=c_char), intent(in) :: name(*)
      integer(c_size_t), value :: count
      type(portprof_count), intent(inout) :: counts(count)
    end function
    type(c_ptr) function portprof_batch_name(batch, record) bind(c)
      import
      type(portprof_batch), intent(in) :: batch
      type(portprof_record), intent(in) :: record
    end function
    type(c_ptr) function portprof_batch_module(batch, record) bind(c)
      import
      type(portprof_batch), intent(in) :: batch
      type(portprof_record), intent(in) :: record
    end function
    type(c_ptr) function portprof_batch_chain(batch, record, depth) bind(c)
      import
      type(portprof_batch), intent(in) :: batch
      type(portprof_record), intent(in) :: record
      integer(c_size_t), intent(out) :: depth
    end function
    ! Sets of labels are never freed; c_null_ptr is the empty one.
    type(c_ptr) function portprof_label_set_new(labels, count) bind(c)
      import
      integer(c_size_t), value :: count
      type(portprof_label), intent(in) :: labels(count)
    end function
    ! The set that this thread was in, for portprof_label_leave.
    type(c_ptr) function portprof_label_enter(set) bind(c)
      import
      type(c_ptr), value :: set
    end function
    subroutine portprof_label_leave(before) bind(c)
      import
      type(c_ptr), value :: before
    end subroutine
    type(c_ptr) function portprof_label_current() bind(c)
      import
    end function
    integer(c_int) function portprof_label_push(key, value) bind(c)
      import
      character(kind=c_char), intent(in) :: key(*), value(*)
    end function
    subroutine portprof_label_pop() bind(c)
      import
    end subroutine
    type(c_ptr) function portprof_status_text(status) bind(c)
      import
      integer(c_int), value :: status
    end function
    integer(c_size_t) function strlen(text) bind(c)
      import
      type(c_ptr), value :: text
    end function
  end interface

end module portprof_c
