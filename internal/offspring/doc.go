// Package offspring follows all that a process has started, to the end of the last of them. It is
// what a guard and "rolectl exec" have in common.
//
// The process becomes the subreaper of its descendants: those whose parents have ended become its
// children, also those that have left their process group and session. It reaps them all, like the
// init of a container. When the kernel says that it has no child, it has no descendant.
//
// A process that another one starts for it (a container engine, systemd) is not a descendant. Linux
// alone has subreapers.
package offspring
