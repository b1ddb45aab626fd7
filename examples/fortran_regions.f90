! SPDX-License-Identifier: MIT
! Regions and a group of counters from Fortran.
!
! gfortran $(pkg-config --variable=fortran portprof) fortran_regions.f90 -lportprof
module report
  use, intrinsic :: iso_c_binding
  use portprof
  implicit none
contains
  function print_region(region, context) bind(c) result(stop_here)
    type(portprof_region_info), intent(in) :: region
    type(c_ptr), value :: context
    integer(c_int) :: stop_here
    type(portprof_count), pointer :: counts(:)
    call c_f_pointer(region%counts, counts, [region%count])
    print '(a, a, i0, a, i0)', portprof_string_f(region%name), ': calls ', &
      region%calls, ', faults ', counts(1)%scaled
    stop_here = 0
    if (c_associated(context)) stop_here = 1
  end function
end module report

program fortran_regions
  use, intrinsic :: iso_c_binding
  use portprof
  use report
  implicit none
  type(c_ptr) :: config, group
  type(portprof_count) :: counts(1)
  real, allocatable :: memory(:)
  real :: total
  integer :: turn, i

  call must(portprof_group_open_f('page-faults', group))
  config = portprof_config_new()
  call must(portprof_config_add_event_f(config, 'page-faults'))
  call must(portprof_regions_open(config, c_null_ptr))
  call portprof_config_free(config)
  total = 0
  do turn = 1, 10
    call must(portprof_region_begin_f(c_null_ptr, 'fill'))
    allocate (memory(1000000))
    do i = 1, size(memory), 1000
      memory(i) = real(turn)
      total = total + memory(i)
    end do
    deallocate (memory)
    call must(portprof_region_end_f(c_null_ptr, 'fill'))
  end do
  call must(portprof_group_read(group, counts, 1_c_size_t))
  call must(portprof_regions_read(c_null_ptr, 0_c_int, &
    c_funloc(print_region), c_null_ptr))
  print '(a, i0, a, f0.0)', 'group: ', counts(1)%scaled, ', total ', total
  call portprof_regions_close(c_null_ptr)
  call portprof_group_close(group)

contains
  subroutine must(status)
    integer(c_int), intent(in) :: status
    if (status /= PORTPROF_OK) then
      print '(a, a)', 'fortran_regions: ', portprof_reason_f()
      stop 1
    end if
  end subroutine
end program fortran_regions
