// Package natstest gives tests the real nats-server of internal/natsrun, with clean-up, with
// waiting that reports what it saw, and in a testing/synctest bubble where hours pass in a second.
//
//	func TestMain(m *testing.M) { natstest.Main(m) }
//
//	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
//		link := s.Link()
//		nc := natstest.Connect(t, s, link.Options()...)
//		...
//		link.Cut()
//		time.Sleep(time.Hour) // virtual: returns when everything that an hour brings has happened
//	})
//
// Promises: everything that a helper started has ended when its test has. A helper that cannot do
// its work ends the test and reports what it saw. No helper sleeps and hopes.
//
// Failures in a bubble: a goroutine that waits for a mutex, a socket or a system call does not
// count as idle, so virtual time stops until it continues. If it waits for something that only time
// brings, the test hangs until go test's own timeout, whose dump shows it as a goroutine of the
// bubble without "(durable)".
package natstest
