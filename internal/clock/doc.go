// Package clock tells how much time has passed, pessimistically for those who hold something and patiently for those
// who watch them.
//
// A lease is safe when its holder never believes longer than an observer waits. What endangers that is a machine that
// sleeps: some clocks stand still meanwhile and some do not. Hence two scales:
//
//	           what passes           on Linux                       a suspended machine
//	Holder     the larger of both    CLOCK_BOOTTIME                 counts: the lease has run on meanwhile
//	Observer   the smaller of both   CLOCK_MONOTONIC (time.Since)   does not count: nobody was watching
//
// CLOCK_BOOTTIME is CLOCK_MONOTONIC plus the time suspended, so it never says less and no maximum has to be taken.
// On macOS the holder reads CLOCK_MONOTONIC_RAW, which goes on during sleep, and the observer time.Since, which stands
// still. Everywhere else both scales are time.Since: there, a holder notices a suspended machine only by what it reads
// from the server afterwards, and fencing has to do the rest.
//
// Promises: instants of one scale never go back within a process, are above zero (so the zero Instant may mean
// "never"), and agree among all clocks that System returns. Instants of two scales, or of two processes, have nothing
// to do with each other. Wall clocks are never read, steps of them change nothing.
//
// Failures: none at run time. A kernel that refuses CLOCK_BOOTTIME gets the plain monotonic clock from System.
//
// Inside a testing/synctest bubble the runtime's clock is virtual and the kernel's is not. System notices that when it
// is called (call it inside the bubble) and then uses the virtual clock for both scales.
//
// Files: instant.go the scale · clock.go the interface and System · kernel_*.go the clock that counts sleep, per
// operating system · skewed.go clocks that run fast or slow, for simulations.
package clock
