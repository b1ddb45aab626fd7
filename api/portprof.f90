! SPDX-License-Identifier: MIT
! portprof for Fortran 2003: doc/fortran.md shows it at work.
!
! Compile portprof_c.f90 and this file with your program and link with -lportprof.
! Any thread may call any function of a session, of regions and of a group, but only
! one at a time may start, stop or reset a group; only one thread at a time may use a
! config; regions and labels are those of the calling thread. Functions that end in _f
! take and return what is Fortran's own: strings, whose trailing blanks
! do not count, and default integers as indexes. Events, sinks, notes and records
! are numbered from 0, as in records. Handles are type(c_ptr), and numbers that C
! has unsigned are signed here. Since 0.1.
module portprof
  use, intrinsic :: iso_c_binding
  use portprof_c
  implicit none

  ! Those below serve Fortran's strings.
  private :: portprof_last_diag, portprof_version, portprof_session_backend
  private :: portprof_group_backend, portprof_session_note
  private :: portprof_group_event_diag, portprof_session_stats
  private :: portprof_session_event, portprof_session_sink_stats
  private :: portprof_group_event, portprof_regions_event
  private :: portprof_config_add_event, portprof_config_set_backend
  private :: portprof_config_write_to, portprof_region_begin
  private :: portprof_region_end, portprof_config_set, portprof_config_load
  private :: portprof_config_set_target_system, portprof_config_set_number
  private :: portprof_group_set_number, portprof_session_set_number
  private :: portprof_group_open, portprof_region_read, portprof_batch_name
  private :: portprof_batch_module, portprof_batch_chain, portprof_status_text
  private :: strlen, c_place, find_field

contains

  ! --- configurations: what to measure, on whom, and where samples go

  function portprof_config_add_event_f(config, event) result(status)
    type(c_ptr), intent(in) :: config
    character(len=*), intent(in) :: event
    integer(c_int) :: status
    status = portprof_config_add_event(config, trim(event)//c_null_char)
  end function

  function portprof_config_set_backend_f(config, name) result(status)
    type(c_ptr), intent(in) :: config
    character(len=*), intent(in) :: name
    integer(c_int) :: status
    status = portprof_config_set_backend(config, trim(name)//c_null_char)
  end function

  function portprof_config_write_to_f(config, path) result(status)
    type(c_ptr), intent(in) :: config
    character(len=*), intent(in) :: path
    integer(c_int) :: status
    status = portprof_config_write_to(config, trim(path)//c_null_char)
  end function

  function portprof_config_set_f(config, key, val) result(status)
    type(c_ptr), intent(in) :: config
    character(len=*), intent(in) :: key, val
    integer(c_int) :: status
    status = portprof_config_set(config, trim(key)//c_null_char, &
      trim(val)//c_null_char)
  end function

  function portprof_config_set_number_f(config, key, number) result(status)
    type(c_ptr), intent(in) :: config
    character(len=*), intent(in) :: key
    integer(c_int64_t), intent(in) :: number
    integer(c_int) :: status
    status = portprof_config_set_number(config, trim(key)//c_null_char, number)
  end function

  ! The settings of a file, '' searches for one, and of its section [set].
  function portprof_config_load_f(config, path, set) result(status)
    type(c_ptr), intent(in) :: config
    character(len=*), intent(in) :: path, set
    integer(c_int) :: status
    character(kind=c_char), target :: path_c(len(path) + 1), set_c(len(set) + 1)
    status = portprof_config_load(config, c_place(path, path_c), &
      c_place(set, set_c))
  end function

  ! All that runs in a cgroup or on some CPUs; '': any.
  function portprof_config_set_target_system_f(config, cgroup, cpus) &
      result(status)
    type(c_ptr), intent(in) :: config
    character(len=*), intent(in) :: cgroup, cpus
    integer(c_int) :: status
    character(kind=c_char), target :: cgroup_c(len(cgroup) + 1), &
      cpus_c(len(cpus) + 1)
    status = portprof_config_set_target_system(config, &
      c_place(cgroup, cgroup_c), c_place(cpus, cpus_c))
  end function

  ! --- sessions: samples from start to stop

  function portprof_session_set_number_f(session, event, key, number) &
      result(status)
    type(c_ptr), intent(in) :: session
    integer, intent(in) :: event
    character(len=*), intent(in) :: key
    integer(c_int64_t), intent(in) :: number
    integer(c_int) :: status
    status = portprof_session_set_number(session, int(event, c_size_t), &
      trim(key)//c_null_char, number)
  end function

  function portprof_session_stats_f(session, event, stats) result(status)
    type(c_ptr), intent(in) :: session
    integer, intent(in) :: event
    type(portprof_stats), intent(inout), target :: stats
    integer(c_int) :: status
    stats%size = size(transfer(stats, [' ']))
    status = portprof_session_stats(session, int(event, c_size_t), c_loc(stats))
  end function

  function portprof_session_sink_stats_f(session, sink, stats) result(status)
    type(c_ptr), intent(in) :: session
    integer, intent(in) :: sink
    type(portprof_sink_stats), intent(inout), target :: stats
    integer(c_int) :: status
    stats%size = size(transfer(stats, [' ']))
    status = portprof_session_sink_stats(session, int(sink, c_size_t), &
      c_loc(stats))
  end function

  function portprof_session_event_f(session, index, info) result(status)
    type(c_ptr), intent(in) :: session
    integer, intent(in) :: index
    type(portprof_event_info), intent(inout), target :: info
    integer(c_int) :: status
    info%size = size(transfer(info, [' ']))
    status = portprof_session_event(session, int(index, c_size_t), c_loc(info))
  end function

  function portprof_session_backend_f(session) result(name)
    type(c_ptr), intent(in) :: session
    character(len=:), allocatable :: name
    name = portprof_string_f(portprof_session_backend(session))
  end function

  ! '' past the last note.
  function portprof_session_note_f(session, index) result(note)
    type(c_ptr), intent(in) :: session
    integer, intent(in) :: index
    character(len=:), allocatable :: note
    note = portprof_string_f(portprof_session_note(session, &
      int(index, c_size_t)))
  end function

  ! --- batches of records; valid during the callback

  ! The index-th record, below batch%count.
  function portprof_batch_record(batch, index) result(record)
    type(portprof_batch), intent(in) :: batch
    integer(c_size_t), intent(in) :: index
    type(portprof_record), pointer :: record
    character(kind=c_char), pointer :: bytes(:)
    call c_f_pointer(batch%records, bytes, [batch%count * batch%record_bytes])
    call c_f_pointer(c_loc(bytes(index * batch%record_bytes + 1)), record)
  end function

  ! The addresses of a call chain, leaf first; not associated if there is none.
  function portprof_batch_chain_f(batch, record) result(chain)
    type(portprof_batch), intent(in) :: batch
    type(portprof_record), intent(in) :: record
    integer(c_int64_t), pointer :: chain(:)
    type(c_ptr) :: first
    integer(c_size_t) :: depth
    nullify (chain)
    first = portprof_batch_chain(batch, record, depth)
    if (c_associated(first)) call c_f_pointer(first, chain, [depth])
  end function

  ! The name of a THREAD record, the path of a MODULE record; '' of others.
  function portprof_batch_name_f(batch, record) result(name)
    type(portprof_batch), intent(in) :: batch
    type(portprof_record), intent(in) :: record
    character(len=:), allocatable :: name
    character(kind=c_char), pointer :: module(:)
    integer, parameter :: path_at = 33
    if (record%kind /= PORTPROF_RECORD_MODULE) then
      name = portprof_string_f(portprof_batch_name(batch, record))
    else
      call c_f_pointer(portprof_batch_module(batch, record), module, [path_at])
      name = portprof_string_f(c_loc(module(path_at)))
    end if
  end function

  ! A field that the event has with each sample: of blocked-time the 0th is the
  ! state, then come the kind of wait, on what, and who holds it. '' and 0 if the
  ! sample has no such field.
  function portprof_batch_field_text_f(batch, record, index) result(text)
    type(portprof_batch), intent(in) :: batch
    type(portprof_record), intent(in) :: record
    integer, intent(in) :: index
    character(len=:), allocatable :: text
    integer(c_int64_t) :: number
    call find_field(batch, record, index, text, number)
  end function

  function portprof_batch_field_number_f(batch, record, index) result(number)
    type(portprof_batch), intent(in) :: batch
    type(portprof_record), intent(in) :: record
    integer, intent(in) :: index
    integer(c_int64_t) :: number
    character(len=:), allocatable :: text
    call find_field(batch, record, index, text, number)
  end function

  subroutine find_field(batch, record, index, text, number)
    type(portprof_batch), intent(in) :: batch
    type(portprof_record), intent(in) :: record
    integer, intent(in) :: index
    character(len=:), allocatable, intent(out) :: text
    integer(c_int64_t), intent(out) :: number
    integer(c_int64_t), pointer :: words(:)
    type(portprof_event_field), pointer :: field
    integer(c_int64_t) :: at, end_at
    text = ''
    number = 0
    if (iand(record%valid, 262144_c_int32_t) == 0) return ! EVENT_FIELDS
    call c_f_pointer(batch%words, words, [batch%word_count])
    at = record%event_fields + 1
    end_at = at + record%event_field_words
    do while (at < end_at)
      call c_f_pointer(c_loc(words(at)), field)
      if (field%index == index) then
        number = field%number
        if (field%text_bytes > 0) text = portprof_string_f(c_loc(words(at + 2)))
        return
      end if
      at = at + 2 + (field%text_bytes + 7) / 8
    end do
  end subroutine

  ! --- groups of counters: they count from their opening on

  function portprof_group_open_f(events, group) result(status)
    character(len=*), intent(in) :: events
    type(c_ptr), intent(out) :: group
    integer(c_int) :: status
    group = c_null_ptr
    status = portprof_group_open(trim(events)//c_null_char, group)
  end function

  function portprof_group_set_number_f(group, key, number) result(status)
    type(c_ptr), intent(in) :: group
    character(len=*), intent(in) :: key
    integer(c_int64_t), intent(in) :: number
    integer(c_int) :: status
    status = portprof_group_set_number(group, trim(key)//c_null_char, number)
  end function

  function portprof_group_event_f(group, index, info) result(status)
    type(c_ptr), intent(in) :: group
    integer, intent(in) :: index
    type(portprof_event_info), intent(inout), target :: info
    integer(c_int) :: status
    info%size = size(transfer(info, [' ']))
    status = portprof_group_event(group, int(index, c_size_t), c_loc(info))
  end function

  ! Why an event is not counted; '' if it is, and has no note.
  function portprof_group_refusal_f(group, index) result(words)
    type(c_ptr), intent(in) :: group
    integer, intent(in) :: index
    character(len=:), allocatable :: words
    type(c_ptr) :: place
    type(portprof_diag), pointer :: diag
    words = ''
    place = portprof_group_event_diag(group, int(index, c_size_t))
    if (.not. c_associated(place)) return
    call c_f_pointer(place, diag)
    words = portprof_chars_f(diag%words)
  end function

  function portprof_group_backend_f(group) result(name)
    type(c_ptr), intent(in) :: group
    character(len=:), allocatable :: name
    name = portprof_string_f(portprof_group_backend(group))
  end function

  ! --- regions and labels; c_null_ptr is the process's own set of regions

  function portprof_region_begin_f(regions, name) result(status)
    type(c_ptr), intent(in) :: regions
    character(len=*), intent(in) :: name
    integer(c_int) :: status
    status = portprof_region_begin(regions, trim(name)//c_null_char)
  end function

  function portprof_region_end_f(regions, name) result(status)
    type(c_ptr), intent(in) :: regions
    character(len=*), intent(in) :: name
    integer(c_int) :: status
    status = portprof_region_end(regions, trim(name)//c_null_char)
  end function

  ! The set of these labels, c_null_ptr and words if there can be none. keys and values
  ! are as many.
  function portprof_label_set_new_f(keys, values) result(set)
    character(len=*), intent(in) :: keys(:), values(:)
    type(c_ptr) :: set
    character(kind=c_char), target :: key(len(keys)+1, size(keys))
    character(kind=c_char), target :: value(len(values)+1, size(keys))
    type(portprof_label) :: labels(size(keys))
    integer :: i, k
    key = c_null_char
    value = c_null_char
    do i = 1, size(keys)
      do k = 1, len_trim(keys(i))
        key(k, i) = keys(i)(k:k)
      end do
      do k = 1, len_trim(values(i))
        value(k, i) = values(i)(k:k)
      end do
      labels(i)%key = c_loc(key(1, i))
      labels(i)%value = c_loc(value(1, i))
    end do
    set = portprof_label_set_new(labels, size(keys, kind=c_size_t))
  end function

  function portprof_label_push_f(key, value) result(status)
    character(len=*), intent(in) :: key, value
    integer(c_int) :: status
    status = portprof_label_push(trim(key)//c_null_char, &
      trim(value)//c_null_char)
  end function

  function portprof_region_read_f(regions, name, counts) result(status)
    type(c_ptr), intent(in) :: regions
    character(len=*), intent(in) :: name
    type(portprof_count), intent(inout) :: counts(:)
    integer(c_int) :: status
    status = portprof_region_read(regions, trim(name)//c_null_char, counts, &
      size(counts, kind=c_size_t))
  end function

  function portprof_regions_event_f(regions, index, info) result(status)
    type(c_ptr), intent(in) :: regions
    integer, intent(in) :: index
    type(portprof_event_info), intent(inout), target :: info
    integer(c_int) :: status
    info%size = size(transfer(info, [' ']))
    status = portprof_regions_event(regions, int(index, c_size_t), c_loc(info))
  end function

  ! --- texts and failures

  ! A C string as a Fortran one; '' for c_null_ptr.
  function portprof_string_f(text) result(string)
    type(c_ptr), intent(in) :: text
    character(len=:), allocatable :: string
    character(kind=c_char), pointer :: letters(:)
    string = ''
    if (.not. c_associated(text)) return
    call c_f_pointer(text, letters, [strlen(text) + 1])
    string = portprof_chars_f(letters)
  end function

  ! What stands before the zero in an array of a portprof_diag.
  function portprof_chars_f(letters) result(string)
    character(kind=c_char), intent(in) :: letters(:)
    character(len=:), allocatable :: string
    integer :: i, length
    length = 0
    do while (length < size(letters))
      if (letters(length + 1) == c_null_char) exit
      length = length + 1
    end do
    allocate (character(len=length) :: string)
    do i = 1, length
      string(i:i) = letters(i)
    end do
  end function

  ! The last failed call of this thread: its status, reason, line, column ...
  function portprof_diag_f() result(diag)
    type(portprof_diag) :: diag
    type(portprof_diag), pointer :: last
    call c_f_pointer(portprof_last_diag(), last)
    diag = last
  end function

  ! Why it failed, and what to do about it, for people.
  function portprof_reason_f() result(words)
    character(len=:), allocatable :: words
    type(portprof_diag), pointer :: last
    call c_f_pointer(portprof_last_diag(), last)
    words = portprof_chars_f(last%words)
  end function

  ! A short English text for a status.
  function portprof_words_f(status) result(words)
    integer(c_int), intent(in) :: status
    character(len=:), allocatable :: words
    words = portprof_string_f(portprof_status_text(status))
  end function

  function portprof_version_f() result(version)
    character(len=:), allocatable :: version
    version = portprof_string_f(portprof_version())
  end function

  ! A text in a buffer of one letter more, for C; c_null_ptr for ''.
  function c_place(text, buffer) result(place)
    character(len=*), intent(in) :: text
    character(kind=c_char), intent(out), target :: buffer(:)
    type(c_ptr) :: place
    integer :: i
    place = c_null_ptr
    if (len_trim(text) == 0) return
    do i = 1, len_trim(text)
      buffer(i) = text(i:i)
    end do
    buffer(len_trim(text) + 1) = c_null_char
    place = c_loc(buffer(1))
  end function

end module portprof
