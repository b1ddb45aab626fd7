! SPDX-License-Identifier: MIT
! portprof for Fortran 2003: the C library by iso_c_binding.
!
! Compile this file with your program and link with -lportprof. Names, units,
! threads and statuses are those of the C functions; those that end in _f take
! Fortran strings of any length. Since 0.1.
module portprof
  use, intrinsic :: iso_c_binding
  implicit none
  private

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

  ! What portprof_count is in C; counts never reach the sign.
  type, bind(c), public :: portprof_count
    integer(c_int64_t) :: raw
    integer(c_int64_t) :: scaled
    integer(c_int64_t) :: enabled_ns
    integer(c_int64_t) :: running_ns
    integer(c_int64_t) :: status
    integer(c_int64_t) :: taken_ns
  end type portprof_count

  ! What begins struct portprof_region_info in C.
  type, bind(c), public :: portprof_region_info
    integer(c_size_t) :: size
    type(c_ptr) :: name
    integer(c_int64_t) :: calls
    integer(c_int64_t) :: threads
    integer(c_int64_t) :: tid
    type(c_ptr) :: counts
    integer(c_size_t) :: count
    type(c_ptr) :: labels ! to label_count of portprof_label
    integer(c_size_t) :: label_count
  end type portprof_region_info

  ! What portprof_diag is in C.
  type, bind(c) :: diag
    integer(c_int) :: status
    integer(c_int) :: os_errno
    character(kind=c_char) :: step(64)
    character(kind=c_char) :: words(960)
    integer(c_int) :: reason
    character(kind=c_char) :: place(256)
    integer(c_int) :: line, column
    character(kind=c_char) :: suggestions(96, 3)
  end type diag

  public :: portprof_group_open_f, portprof_group_read, portprof_group_close
  public :: portprof_group_event_count
  public :: portprof_config_new, portprof_config_free
  public :: portprof_config_add_event_f, portprof_config_set_f
  public :: portprof_regions_open, portprof_regions_close, portprof_regions_read
  public :: portprof_region_begin_f, portprof_region_end_f
  public :: portprof_region_read_f
  public :: portprof_words_f, portprof_reason_f, portprof_string_f

  interface
    function portprof_group_read(group, counts, count) &
        bind(c, name='portprof_group_read') result(status)
      import :: c_ptr, c_size_t, c_int, portprof_count
      type(c_ptr), value :: group
      integer(c_size_t), value :: count
      type(portprof_count), intent(out) :: counts(count)
      integer(c_int) :: status
    end function
    function portprof_group_event_count(group) &
        bind(c, name='portprof_group_event_count') result(count)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: group
      integer(c_size_t) :: count
    end function
    subroutine portprof_group_close(group) bind(c, name='portprof_group_close')
      import :: c_ptr
      type(c_ptr), value :: group
    end subroutine
    function portprof_config_new() bind(c, name='portprof_config_new') &
        result(config)
      import :: c_ptr
      type(c_ptr) :: config
    end function
    subroutine portprof_config_free(config) &
        bind(c, name='portprof_config_free')
      import :: c_ptr
      type(c_ptr), value :: config
    end subroutine
    ! config: c_null_ptr for the default event. regions: c_null_ptr for the
    ! process's own set, or c_loc of a type(c_ptr) that gets a set's handle.
    function portprof_regions_open(config, regions) &
        bind(c, name='portprof_regions_open') result(status)
      import :: c_ptr, c_int
      type(c_ptr), value :: config, regions
      integer(c_int) :: status
    end function
    ! In these and in the functions of regions below, c_null_ptr is the
    ! process's own set.
    subroutine portprof_regions_close(regions) &
        bind(c, name='portprof_regions_close')
      import :: c_ptr
      type(c_ptr), value :: regions
    end subroutine
    ! take: a bind(c) function of (type(portprof_region_info), context pointer)
    ! that returns 0 to go on. by: 0 or a sum of PORTPROF_REGIONS_BY_.
    function portprof_regions_read(regions, by, take, context) &
        bind(c, name='portprof_regions_read') result(status)
      import :: c_int, c_funptr, c_ptr
      type(c_ptr), value :: regions
      integer(c_int), value :: by
      type(c_funptr), value :: take
      type(c_ptr), value :: context
      integer(c_int) :: status
    end function
    function open_group(events, group) bind(c, name='portprof_group_open') &
        result(status)
      import :: c_char, c_ptr, c_int
      character(kind=c_char), intent(in) :: events(*)
      type(c_ptr), intent(out) :: group
      integer(c_int) :: status
    end function
    function add_event(config, event) &
        bind(c, name='portprof_config_add_event') result(status)
      import :: c_char, c_ptr, c_int
      type(c_ptr), value :: config
      character(kind=c_char), intent(in) :: event(*)
      integer(c_int) :: status
    end function
    function set_key(config, key, val) bind(c, name='portprof_config_set') &
        result(status)
      import :: c_char, c_ptr, c_int
      type(c_ptr), value :: config
      character(kind=c_char), intent(in) :: key(*), val(*)
      integer(c_int) :: status
    end function
    function begin_region(regions, name) &
        bind(c, name='portprof_region_begin') result(status)
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: regions
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int) :: status
    end function
    function end_region(regions, name) bind(c, name='portprof_region_end') &
        result(status)
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: regions
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int) :: status
    end function
    function read_region(regions, name, counts, count) &
        bind(c, name='portprof_region_read') result(status)
      import :: c_char, c_int, c_ptr, c_size_t, portprof_count
      type(c_ptr), value :: regions
      character(kind=c_char), intent(in) :: name(*)
      integer(c_size_t), value :: count
      type(portprof_count), intent(out) :: counts(count)
      integer(c_int) :: status
    end function
    function status_text(status) bind(c, name='portprof_status_text') &
        result(text)
      import :: c_int, c_ptr
      integer(c_int), value :: status
      type(c_ptr) :: text
    end function
    function last_diag() bind(c, name='portprof_last_diag') result(last)
      import :: c_ptr
      type(c_ptr) :: last
    end function
    function string_length(text) bind(c, name='strlen') result(length)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function
  end interface

contains

  function portprof_group_open_f(events, group) result(status)
    character(len=*), intent(in) :: events
    type(c_ptr), intent(out) :: group
    integer(c_int) :: status
    group = c_null_ptr
    status = open_group(trim(events)//c_null_char, group)
  end function

  function portprof_config_add_event_f(config, event) result(status)
    type(c_ptr), intent(in) :: config
    character(len=*), intent(in) :: event
    integer(c_int) :: status
    status = add_event(config, trim(event)//c_null_char)
  end function

  function portprof_config_set_f(config, key, val) result(status)
    type(c_ptr), intent(in) :: config
    character(len=*), intent(in) :: key, val
    integer(c_int) :: status
    status = set_key(config, trim(key)//c_null_char, trim(val)//c_null_char)
  end function

  function portprof_region_begin_f(regions, name) result(status)
    type(c_ptr), intent(in) :: regions
    character(len=*), intent(in) :: name
    integer(c_int) :: status
    status = begin_region(regions, trim(name)//c_null_char)
  end function

  function portprof_region_end_f(regions, name) result(status)
    type(c_ptr), intent(in) :: regions
    character(len=*), intent(in) :: name
    integer(c_int) :: status
    status = end_region(regions, trim(name)//c_null_char)
  end function

  function portprof_region_read_f(regions, name, counts) result(status)
    type(c_ptr), intent(in) :: regions
    character(len=*), intent(in) :: name
    type(portprof_count), intent(out) :: counts(:)
    integer(c_int) :: status
    status = read_region(regions, trim(name)//c_null_char, counts, &
      size(counts, kind=c_size_t))
  end function

  ! A C string as a Fortran one.
  function portprof_string_f(text) result(string)
    type(c_ptr), intent(in) :: text
    character(len=:), allocatable :: string
    character(kind=c_char), pointer :: letters(:)
    integer(c_size_t) :: i, length
    length = string_length(text)
    call c_f_pointer(text, letters, [length])
    allocate (character(len=length) :: string)
    do i = 1, length
      string(i:i) = letters(i)
    end do
  end function

  ! Why the last failed call of this thread failed, and what to do about it.
  function portprof_reason_f() result(words)
    character(len=:), allocatable :: words
    type(diag), pointer :: last
    call c_f_pointer(last_diag(), last)
    words = portprof_string_f(c_loc(last%words))
  end function

  ! A short English text for a status.
  function portprof_words_f(status) result(words)
    integer(c_int), intent(in) :: status
    character(len=:), allocatable :: words
    words = portprof_string_f(status_text(status))
  end function

end module portprof
