cimport cython
from libc cimport math
from libc.stdint cimport int32_t, int64_t

cdef int MAX_STEPS
cdef double FURTHEST


@cython.locals(
    classes=Py_ssize_t, k=Py_ssize_t, _=int, top=double, log_penalty=double, gap=double, u=double, s=double, p=double,
    log_z=double, total=double, slope=double, error=double, step=double, a=double, low=double, high=double,
)
cpdef void solve(const double[::1] scores, Py_ssize_t y, double penalty, double[::1] found) noexcept nogil

@cython.locals(classes=Py_ssize_t, k=Py_ssize_t, odds=double)
cpdef double trust(const double[::1] scores, Py_ssize_t y, double noise) noexcept nogil

@cython.locals(w=double, _=int)
cpdef double omega(double x) noexcept nogil

@cython.locals(
    classes=Py_ssize_t, i=Py_ssize_t, j=Py_ssize_t, k=Py_ssize_t, n=Py_ssize_t, y=Py_ssize_t, begin=Py_ssize_t,
    end=Py_ssize_t, done=int, moved=int64_t, rest=int64_t, largest=int64_t, first=int64_t, second=int64_t, unit=double, least=double,
    scale=double, worst=double, tolerance=double, scores="double[::1]", found="double[::1]", sums="long long[::1]",
    change="long long[::1]",
)
cpdef int ascend(
    const int64_t[::1] indptr, const int32_t[::1] columns, const double[::1] values, const double[:, ::1] offsets,
    const int64_t[::1] labels, const int64_t[::1] order, double penalty, double noise, int passes, int64_t[:, ::1] brought,
    int64_t[:, ::1] weights
) except -1

@cython.locals(i=Py_ssize_t, j=Py_ssize_t, k=Py_ssize_t, n=Py_ssize_t)
cpdef take_out(
    const int64_t[::1] indptr, const int32_t[::1] columns, const int64_t[::1] messages,
    const int64_t[:, ::1] brought, int64_t[:, ::1] weights
)

@cython.locals(i=Py_ssize_t, j=Py_ssize_t, k=Py_ssize_t, n=Py_ssize_t, sums="long long[:, ::1]")
cpdef sum_columns(
    const int64_t[::1] indptr, const int32_t[::1] columns, const int64_t[::1] messages,
    const int64_t[:, ::1] weights
)
