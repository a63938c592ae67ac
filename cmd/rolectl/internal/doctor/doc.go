// Package doctor holds the command "rolectl doctor": it looks for what is wrong with a bucket, its
// servers, members and tasks, and says what to do.
//
// Each check adds findings. A finding that is not ok has a fix. The exit code is the worst
// severity, as monitoring systems expect it: 0 ok, 1 warning, 2 critical, 3 unknown. A check that
// needs a permission that the user lacks says so, and is not a fault.
package doctor
