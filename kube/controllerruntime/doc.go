// Package controllerruntime runs the managers and controllers of sigs.k8s.io/controller-runtime in
// the terms of roles. It is a module of its own: the library does not have these dependencies.
//
//   - [Runnable] runs one controller in the terms of one role. The controllers of one manager are
//     led apart, and a controller that lost its role is built and started again when the role is
//     won.
//   - [NewManager] makes a whole manager that is led by a role, and [Start] runs it. Its caches and
//     webhooks are warm before it leads. When the term ends the manager is stopped, and the role is
//     given away after its controllers have returned. With client-go's own lock a manager that lost
//     it does not wait for its controllers.
//   - [Lock] is a resourcelock.Interface over a role, for a program that keeps client-go's elector.
//
// # Promises
//
//   - With Runnable the role is not given away before the runnable has returned.
//   - With Start it is not given away before all runnables that need it have returned. The manager
//     itself may return earlier, after its GracefulShutdownTimeout or when its elector has lost.
//   - An elector that renews a Lock stops to lead before another process may lead the role, also
//     when the session is lost.
package controllerruntime
