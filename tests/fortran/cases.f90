! SPDX-License-Identifier: MIT
! What the Fortran module promises, each as a line "ok" or "not ok", or "skip" where
! this machine lacks it; run by check-fortran.sh. Sums are held to one another, so
! that nothing depends on what else the machine does.
module seen
  use portprof
  implicit none
  integer(c_int64_t), save :: batches = 0, weight = 0, chains = 0
  integer(c_int64_t), save :: bad_chains = 0, named = 0, nameless = 0
  integer(c_int64_t), save :: waited = 0, slept = 0

  type, bind(c) :: pollfd
    integer(c_int) :: fd
    integer(c_short) :: events, revents
  end type pollfd

  interface
    function usleep(us) bind(c) result(failed)
      import :: c_int
      integer(c_int), value :: us
      integer(c_int) :: failed
    end function
    function poll(fds, count, ms) bind(c) result(ready)
      import :: c_int, c_long, pollfd
      type(pollfd), intent(inout) :: fds(*)
      integer(c_long), value :: count
      integer(c_int), value :: ms
      integer(c_int) :: ready
    end function
  end interface

contains

  subroutine take(batch, context) bind(c)
    type(portprof_batch), intent(in) :: batch
    type(c_ptr), value :: context
    type(portprof_record), pointer :: record
    integer(c_int64_t), pointer :: chain(:)
    integer(c_int64_t), pointer :: calls
    integer(c_size_t) :: i
    call c_f_pointer(context, calls)
    calls = calls + 1
    do i = 0, batch%count - 1
      record => portprof_batch_record(batch, i)
      select case (record%kind)
      case (PORTPROF_RECORD_SAMPLE)
        weight = weight + record%weight
        chain => portprof_batch_chain_f(batch, record)
        if (associated(chain)) then
          chains = chains + 1
          if (size(chain) < 1) bad_chains = bad_chains + 1
        else if (iand(record%valid, PORTPROF_FIELD_CHAIN) /= 0) then
          bad_chains = bad_chains + 1
        end if
      case (PORTPROF_RECORD_MODULE)
        if (index(portprof_batch_name_f(batch, record), 'libportprof') > 0) &
          named = named + 1
        if (portprof_batch_name_f(batch, record) == '') nameless = nameless + 1
      end select
    end do
  end subroutine

  subroutine take_waits(batch, context) bind(c)
    type(portprof_batch), intent(in) :: batch
    type(c_ptr), value :: context
    type(portprof_record), pointer :: record
    integer(c_size_t) :: i
    if (c_associated(context)) return
    do i = 0, batch%count - 1
      record => portprof_batch_record(batch, i)
      if (record%kind /= PORTPROF_RECORD_SAMPLE) cycle
      waited = waited + record%weight
      if (portprof_batch_field_text_f(batch, record, 1) == 'sleep') &
        slept = slept + record%weight
      if (portprof_batch_field_text_f(batch, record, 99) /= '' .or. &
        portprof_batch_field_number_f(batch, record, 99) /= 0) slept = -1
    end do
  end subroutine

  function take_region(region, context) bind(c) result(stop_here)
    type(portprof_region_info), intent(in) :: region
    type(c_ptr), value :: context
    integer(c_int) :: stop_here
    type(portprof_count), pointer :: counts(:)
    integer(c_int64_t), pointer :: inner
    call c_f_pointer(context, inner)
    call c_f_pointer(region%counts, counts, [region%count])
    if (portprof_string_f(region%name) == 'inner' .and. region%calls == 3) &
      inner = counts(1)%scaled
    stop_here = 0
  end function

  ! Mostly in code of this program, little in the system's clock.
  subroutine spin(seconds)
    real, intent(in) :: seconds
    real :: from, now
    integer, volatile :: turn
    call cpu_time(from)
    do
      do turn = 1, 100000
      end do
      call cpu_time(now)
      if (now - from > seconds) exit
    end do
  end subroutine

  subroutine case(words, is_good)
    character(len=*), intent(in) :: words
    logical, intent(in) :: is_good
    if (is_good) then
      print '(a, a)', 'ok ', words
    else
      print '(a, a, a, a)', 'not ok ', words, ' # last: ', portprof_reason_f()
    end if
  end subroutine

  logical function well(status)
    integer(c_int), intent(in) :: status
    well = status == PORTPROF_OK
  end function

end module seen

program cases
  use seen
  implicit none
  character(len=256) :: folder

  call get_command_argument(1, folder)
  call case('version', index(portprof_version_f(), '.') > 0)
  call refusals
  call a_session
  call a_descriptor
  call a_thread_and_a_file
  call a_group
  call some_regions
  call some_labels
  call waits

contains

  subroutine refusals
    type(c_ptr) :: config
    type(portprof_diag) :: diag
    config = portprof_config_new()
    call case('an unknown setting', portprof_config_set_f(config, &
      'frequence', '5') == PORTPROF_E_INVALID)
    diag = portprof_diag_f()
    call case('has its status, reason and neighbour', &
      diag%status == PORTPROF_E_INVALID .and. &
      diag%reason == PORTPROF_REASON_UNKNOWN_NAME .and. &
      portprof_chars_f(diag%suggestions(:, 1)) == 'frequency')
    call case('and words, of any length', index(portprof_reason_f(), &
      'frequence') > 0 .and. portprof_reason_f() == portprof_chars_f(diag%words))
    call case('a malformed event', portprof_config_add_event_f(config, &
      'task-clock,,') == PORTPROF_E_INVALID)
    diag = portprof_diag_f()
    call case('has its column', diag%reason == PORTPROF_REASON_SYNTAX .and. &
      diag%column > 0)
    call case('a number out of range', portprof_config_set_number_f(config, &
      'callchain', 100000_c_int64_t) == PORTPROF_E_INVALID)
    call case('a target without an id', portprof_config_set_target(config, &
      PORTPROF_TARGET_PID, 0_c_int64_t) == PORTPROF_E_INVALID)
    call case('no list of CPUs', portprof_config_set_target_system_f(config, &
      '', 'x') == PORTPROF_E_INVALID)
    call case('all CPUs', well(portprof_config_set_target_system_f(config, &
      '', '')))
    call case('no such backend', portprof_config_set_f(config, 'backend', &
      'clockwork') == PORTPROF_E_INVALID)
    call case('any backend', well(portprof_config_set_backend_f(config, &
      'auto')))
    call case('a file that is not there', portprof_config_load_f(config, &
      trim(folder)//'/no-such-file', '') == PORTPROF_E_NOTFOUND)
    call case('a status has words', portprof_words_f(PORTPROF_E_DENIED) /= '')
    call portprof_config_free(config)
  end subroutine

  ! One session with each kind of sink, and settings of a file.
  subroutine a_session
    type(c_ptr) :: config, session
    type(portprof_range) :: ranges(1)
    type(c_funptr) :: here
    type(portprof_stats) :: stats
    type(portprof_sink_stats) :: sink(0:2)
    type(portprof_event_info) :: info
    integer(c_int64_t), target :: bins(1000), pcs(1000), calls
    integer(c_int) :: status
    integer :: unit, i
    bins = 0
    pcs = 0
    calls = 0
    open (newunit=unit, file=trim(folder)//'/settings')
    write (unit, '(a)') 'event = task-clock', '[fast]', 'frequency = 400'
    close (unit)
    config = portprof_config_new()
    call case('settings of a file', well(portprof_config_load_f(config, &
      trim(folder)//'/settings  ', 'fast')))
    ! 65536 bytes a bin, about the code of this program
    here = c_funloc(take)
    ranges(1)%offset = iand(transfer(here, 0_c_int64_t), &
      not(65535_c_int64_t)) - 500_c_int64_t * 65536
    ranges(1)%scale = 2
    ranges(1)%bin_bits = 64
    ranges(1)%bins = c_loc(bins(1))
    ranges(1)%bin_count = size(bins)
    call case('a histogram', well(portprof_config_add_histogram(config, &
      0_c_size_t, ranges, 1_c_size_t, PORTPROF_BINS_WEIGHT)))
    call case('a range that overlaps itself', portprof_config_add_histogram( &
      config, 0_c_size_t, [ranges, ranges], 2_c_size_t, &
      PORTPROF_BINS_WEIGHT) == PORTPROF_E_INVALID)
    call case('a histogram of no labels', portprof_config_add_label_histogram( &
      config, 0_c_size_t, ranges, 1_c_size_t, PORTPROF_BINS_WEIGHT, &
      c_null_ptr) == PORTPROF_E_INVALID)
    call case('an array', well(portprof_config_add_array(config, &
      c_loc(pcs(1)), size(pcs, kind=c_size_t))))
    call case('a callback', well(portprof_config_add_callback(config, &
      c_funloc(take), c_loc(calls))))
    call case('call chains', well(portprof_config_set_number_f(config, &
      'callchain', 16_c_int64_t)))
    call case('what must be had', well(portprof_config_require(config, &
      ior(PORTPROF_CAP_SAMPLE, PORTPROF_CAP_CHAIN))))
    if (.not. well(portprof_session_open(config, session))) then
      print '(a, a)', 'skip a session: ', portprof_reason_f()
      return
    end if
    call portprof_config_free(config)
    call case('a backend is named', len(portprof_session_backend_f(session)) > 2)
    call case('capabilities', iand(portprof_session_caps(session), &
      PORTPROF_CAP_SAMPLE) /= 0)
    call case('one event', portprof_session_event_count(session) == 1)
    call case('which is CPU time at the rate of the file', &
      well(portprof_session_event_f(session, 0, info)) .and. &
      info%unit == PORTPROF_UNIT_NANOSECONDS .and. info%rate_hz == 400 .and. &
      index(portprof_string_f(info%canonical), 'task-clock') > 0)
    call case('no second one', portprof_session_event_f(session, 1, info) &
      == PORTPROF_E_INVALID)
    call case('start', well(portprof_session_start(session)))
    call spin(0.2)
    status = portprof_session_set_number_f(session, 0, 'frequency', &
      200_c_int64_t)
    call case('another rate, where the backend can', well(status) .or. &
      status == PORTPROF_E_UNSUPPORTED)
    call case('no such setting', portprof_session_set_number_f(session, 0, &
      'frequence', 200_c_int64_t) == PORTPROF_E_INVALID)
    call spin(0.2)
    call case('flush', well(portprof_session_flush(session)))
    call case('stop', well(portprof_session_stop(session)))
    i = 0
    do while (portprof_session_note_f(session, i) /= '')
      i = i + 1
    end do
    call case('notes end', i < 100)
    call case('an account', well(portprof_session_stats_f(session, 0, stats)))
    call case('that closes', stats%delivered_samples > 0 .and. &
      stats%delivered_samples == stats%kept_samples + stats%outside_samples + &
      stats%lost_samples .and. stats%total_weight == stats%kept_weight + &
      stats%outside_weight + stats%unattributed_weight - stats%excess_weight)
    do i = 0, 2
      if (.not. well(portprof_session_sink_stats_f(session, i, sink(i)))) &
        call case('a sink has an account', .false.)
    end do
    call case('no fourth sink', portprof_session_sink_stats_f(session, 3, &
      sink(0)) == PORTPROF_E_INVALID)
    call case('bins have the weight of their sink', sink(0)%kept_weight > 0 &
      .and. sum(bins) == sink(0)%kept_weight)
    call case('the array has its samples', &
      sink(1)%kept_samples == count(pcs /= 0) .and. count(pcs /= 0) > 0)
    call case('the callback got the weight of its own', calls > 0 .and. &
      weight > 0 .and. weight == sink(2)%kept_weight)
    call case('and call chains', chains > 0 .and. bad_chains == 0)
    call case('and the path of the library', named > 0 .and. nameless == 0)
    call case('reset', well(portprof_session_reset(session)) .and. &
      well(portprof_session_stats_f(session, 0, stats)) .and. &
      stats%total_weight == 0)
    call case('close', well(portprof_session_close(session)))
  end subroutine

  ! After the first call of portprof_session_fd, flush alone brings samples.
  subroutine a_descriptor
    type(c_ptr) :: config, session
    type(pollfd) :: fds(1)
    integer(c_int64_t), target :: calls
    integer(c_int64_t) :: before
    calls = 0
    weight = 0
    config = portprof_config_new()
    if (.not. well(portprof_config_set_frequency(config, 1000_c_int64_t)) .or. &
      .not. well(portprof_config_add_callback(config, c_funloc(take), &
      c_loc(calls)))) call case('a descriptor: its settings', .false.)
    if (.not. well(portprof_session_open(config, session))) then
      print '(a, a)', 'skip a descriptor: ', portprof_reason_f()
      return
    end if
    call portprof_config_free(config)
    fds(1)%fd = -1
    fds(1)%events = 1
    call case('a descriptor', well(portprof_session_fd(session, fds(1)%fd)) &
      .and. fds(1)%fd >= 0)
    call case('started', well(portprof_session_start(session)))
    call spin(0.2)
    call case('is readable once samples wait', &
      poll(fds, 1_c_long, 60000_c_int) == 1)
    before = weight
    call case('which flush brings, and nothing else', before == 0 .and. &
      well(portprof_session_flush(session)) .and. weight > 0)
    call case('closed', well(portprof_session_close(session)))
  end subroutine

  ! This thread alone, into a file.
  subroutine a_thread_and_a_file
    type(c_ptr) :: config, session
    config = portprof_config_new()
    call case('this thread', well(portprof_config_set_target(config, &
      PORTPROF_TARGET_THREAD, 0_c_int64_t)))
    call case('a period', well(portprof_config_set_period(config, &
      2000000_c_int64_t)))
    call case('a file', well(portprof_config_write_to_f(config, &
      trim(folder)//'/run.pb.gz ')))
    if (.not. well(portprof_session_open(config, session))) then
      print '(a, a)', 'skip a file: ', portprof_reason_f()
      return
    end if
    call portprof_config_free(config)
    call case('runs', well(portprof_session_start(session)))
    call spin(0.2)
    call case('and is written', well(portprof_session_close(session)))
  end subroutine

  subroutine a_group
    type(c_ptr) :: config, group
    type(portprof_event_info) :: info
    type(portprof_count) :: counts(1), one, again
    ! without /proc and /sys nobody knows the neighbours of a name
    call case('a group of an unknown event', any(portprof_group_open_f( &
      'page-fauts', group) == [PORTPROF_E_NOTFOUND, PORTPROF_E_UNSUPPORTED]))
    config = portprof_config_new()
    if (.not. well(portprof_config_add_event_f(config, 'task-clock')) .or. &
      .not. well(portprof_config_set_target(config, PORTPROF_TARGET_THREAD, &
      0_c_int64_t))) call case('a group: its settings', .false.)
    if (.not. well(portprof_group_open_config(config, group))) then
      print '(a, a)', 'skip a group: ', portprof_reason_f()
      return
    end if
    call portprof_config_free(config)
    call spin(0.05)
    call case('is read', well(portprof_group_read(group, counts, 1_c_size_t)) &
      .and. counts(1)%raw > 10000000 .and. counts(1)%status <= 1)
    call case('one counter', well(portprof_group_event_read(group, 0_c_size_t, &
      one)) .and. one%raw >= counts(1)%raw)
    call case('stop', well(portprof_group_stop(group)) .and. &
      well(portprof_group_event_read(group, 0_c_size_t, one)))
    call spin(0.01)
    call case('stays', well(portprof_group_event_read(group, 0_c_size_t, &
      again)) .and. again%raw == one%raw)
    call case('reset and start', well(portprof_group_reset(group)) .and. &
      well(portprof_group_start(group)))
    call case('no such thread', portprof_group_set_number_f(group, &
      'add-thread', 0_c_int64_t) /= PORTPROF_OK)
    call case('its event', portprof_group_event_count(group) == 1 .and. &
      well(portprof_group_event_f(group, 0, info)) .and. &
      index(portprof_string_f(info%canonical), 'task-clock') > 0)
    call case('was not refused', has_no_refusal(group))
    call case('its backend', len(portprof_group_backend_f(group)) > 2)
    call portprof_group_close(group)
  end subroutine

  logical function has_no_refusal(group) result(is_counted)
    type(c_ptr), intent(in) :: group
    is_counted = index(portprof_group_refusal_f(group, 0), 'not counted') == 0 &
      .and. portprof_group_refusal_f(group, 1) == ''
  end function

  ! A set of its own, and a jump out of regions.
  subroutine some_regions
    type(c_ptr) :: config
    type(c_ptr), target :: set
    type(portprof_count) :: counts(1)
    type(portprof_event_info) :: info
    integer(c_int64_t), target :: inner
    integer :: i
    inner = -1
    config = portprof_config_new()
    if (.not. well(portprof_config_add_event_f(config, 'task-clock'))) &
      call case('regions: their event', .false.)
    if (.not. well(portprof_regions_open(config, c_loc(set)))) then
      print '(a, a)', 'skip regions: ', portprof_reason_f()
      return
    end if
    call portprof_config_free(config)
    do i = 1, 3
      call case('begun', well(portprof_region_begin_f(set, 'outer')) .and. &
        well(portprof_region_begin_f(set, 'inner ')))
      call spin(0.01)
      call case('two are open', portprof_region_depth(set) == 2)
      if (i < 3) then
        call case('ended', well(portprof_region_end_f(set, 'inner')))
        call case('out of order', portprof_region_end_f(set, 'inner') == &
          PORTPROF_E_INVALID)
        call case('read', well(portprof_region_read_f(set, 'outer', counts)) &
          .and. counts(1)%scaled > 0)
        call case('and the other', well(portprof_region_end_f(set, 'outer')))
      else
        call case('ended at once', well(portprof_region_end_to(set, &
          0_c_size_t)) .and. portprof_region_depth(set) == 0)
      end if
    end do
    call case('their event', portprof_regions_event_count(set) == 1 .and. &
      well(portprof_regions_event_f(set, 0, info)) .and. &
      info%unit == PORTPROF_UNIT_NANOSECONDS)
    call case('a function reads them', well(portprof_regions_read(set, &
      0_c_int, c_funloc(take_region), c_loc(inner))))
    ! 30 ms of this process, nearly all of this thread
    call case('three calls of 10 ms', inner > 10000000)
    call portprof_regions_close(set)
  end subroutine

  subroutine some_labels
    type(c_ptr) :: set, before
    set = portprof_label_set_new_f([character(8) :: 'endpoint', 'tenant'], &
      [character(9) :: '/checkout', 'acme'])
    before = portprof_label_enter(set)
    call case('a set of labels is entered', c_associated(set) .and. &
      .not. c_associated(before) .and. &
      c_associated(portprof_label_current(), set))
    call case('a label more', well(portprof_label_push_f('step', 'pay ')) &
      .and. .not. c_associated(portprof_label_current(), set))
    call portprof_label_pop()
    call case('and less', c_associated(portprof_label_current(), set))
    call case('equal sets are one', c_associated(set, &
      portprof_label_set_new_f([character(8) :: 'tenant', 'endpoint'], &
      [character(9) :: 'acme', '/checkout'])))
    call portprof_label_leave(before)
    call case('left', .not. c_associated(portprof_label_current()))
    call case('no key', portprof_label_push_f(' ', 'value') == &
      PORTPROF_E_INVALID)
  end subroutine

  subroutine waits
    type(c_ptr) :: config, session
    config = portprof_config_new()
    if (.not. well(portprof_config_add_event_f(config, 'blocked-time')) .or. &
      .not. well(portprof_config_add_callback(config, c_funloc(take_waits), &
      c_null_ptr))) call case('waits: their settings', .false.)
    if (.not. well(portprof_session_open(config, session))) then
      print '(a, a)', 'skip waits: ', portprof_reason_f()
      return
    end if
    call portprof_config_free(config)
    call case('waits', well(portprof_session_start(session)))
    call case('slept', usleep(300000_c_int) == 0)
    call case('stopped', well(portprof_session_close(session)))
    call case('a sleep has its length and its kind', waited > 0 .and. &
      slept > 200000000)
  end subroutine

end program cases
