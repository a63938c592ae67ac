// Package clock measures how much time has passed, pessimistically for a holder of a lease and
// patiently for those that watch it.
//
// A lease is safe when its holder never believes in it longer than an observer waits. A machine
// that sleeps endangers that: during sleep, some clocks stop and others continue. Hence there are
// two scales:
//
//	           what passes          on Linux                      a suspended machine
//	Holder     the larger of both   CLOCK_BOOTTIME                counts: the lease continued
//	Observer   the smaller of both  CLOCK_MONOTONIC (time.Since)  does not count: nobody watched
//
// CLOCK_BOOTTIME is CLOCK_MONOTONIC plus the time suspended, so it is never behind, and no maximum
// has to be taken. On macOS the holder reads CLOCK_MONOTONIC_RAW, which continues during sleep, and
// the observer reads time.Since, which does not. Everywhere else both scales are time.Since. There,
// a holder notices that the machine was suspended only when it reads from the server afterwards,
// and fencing must do the rest.
//
// Promises: within a process, instants of one scale never go back. They are above zero, so that the
// zero Instant may mean "never". They agree among all clocks that System returns. Instants of two
// scales, or of two processes, cannot be compared. Wall clocks are never read, so steps of a wall
// clock change nothing.
//
// Failures: none at run time. A kernel that refuses CLOCK_BOOTTIME gets the plain monotonic clock
// from System.
//
// Inside a testing/synctest bubble the runtime's clock is virtual and the kernel's is not. System
// notices that when it is called (call it inside the bubble), and then uses the virtual clock for
// both scales.
package clock
