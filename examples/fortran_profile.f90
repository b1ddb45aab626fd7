! SPDX-License-Identifier: MIT
! Samples the busy part of a program into a file, and prints the account.
!
! gfortran $(pkg-config --variable=fortran portprof) fortran_profile.f90 -lportprof
!
! usage: fortran_profile [FILE]     then: portprof report FILE
module work
  implicit none
contains
  subroutine multiply(a, b, c)
    real, intent(in) :: a(:, :), b(:, :)
    real, intent(inout) :: c(:, :)
    integer :: i, j, k
    do j = 1, size(b, 2)
      do k = 1, size(b, 1)
        do i = 1, size(a, 1)
          c(i, j) = c(i, j) + a(i, k) * b(k, j)
        end do
      end do
    end do
  end subroutine
end module work

program fortran_profile
  use portprof
  use work
  implicit none
  character(len=256) :: path
  type(c_ptr) :: config, session
  type(portprof_stats) :: stats
  real :: a(200, 200), b(200, 200), c(200, 200), from, now
  integer :: i

  path = 'run.pb.gz'
  if (command_argument_count() > 0) call get_command_argument(1, path)

  config = portprof_config_new()
  call must(portprof_config_add_event_f(config, 'task-clock'))
  call must(portprof_config_set_frequency(config, 500_c_int64_t))
  call must(portprof_config_set_f(config, 'callchain', '32'))
  call must(portprof_config_write_to_f(config, path))
  call must(portprof_session_open(config, session))
  call portprof_config_free(config)

  a = 1
  b = 2
  c = 0
  call must(portprof_session_start(session))
  call cpu_time(from)
  do
    call multiply(a, b, c)
    call cpu_time(now)
    if (now - from > 0.5) exit
  end do
  call must(portprof_session_stop(session))

  call must(portprof_session_stats_f(session, 0, stats))
  print '(i0, a, a, a, i0, a, f6.3, a)', stats%kept_samples, ' samples by ', &
    portprof_session_backend_f(session), ', ', stats%lost_samples, ' lost,', &
    real(stats%total_weight) / 1e9, ' s of CPU time'
  i = 0
  do while (portprof_session_note_f(session, i) /= '')
    print '(a, a)', 'note: ', portprof_session_note_f(session, i)
    i = i + 1
  end do
  call must(portprof_session_close(session))
  print '(a, f0.0)', 'the sum is ', sum(c)

contains
  subroutine must(status)
    integer(c_int), intent(in) :: status
    if (status == PORTPROF_OK) return
    print '(a, a)', 'fortran_profile: ', portprof_reason_f()
    stop 1
  end subroutine
end program fortran_profile
