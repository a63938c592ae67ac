// Package natskv is the only code that uses the JetStream key-value store. It sets a bucket up and
// checks it, writes by compare-and-swap with exactly three outcomes, and watches keys in revision
// order. Plain streams of one record per subject are written and watched in the same way.
//
// Promises.
//   - A bucket that opens is fit for epochs. It keeps one record per key. Its revisions increase
//     even when the bucket is deleted and recreated. No record vanishes by itself, except one that
//     was written with a TTL, and every removal leaves a marker. An unfit bucket is refused, with
//     all faults in one error, and never corrected silently.
//   - Won means stored, at Result.Revision. Refused means certainly not stored, because the
//     condition did not hold. Every other result, and only those, is Unknown: the write may be
//     stored now, later, or never.
//   - Submit never waits, not even for a socket that hangs. done is called exactly once for each
//     write, at the latest when the timeout counted from Submit has passed.
//   - A watch delivers entries by strictly increasing revision across all its filters, and reports
//     when the snapshot is complete. It ends with an error rather than leave something out.
//
// Failures.
//   - Permanent distinguishes faults that waiting does not cure (bucket gone, JetStream off,
//     permission denied, connection closed) from faults that it may cure. A denied permission looks
//     like silence to a NATS client, so a call that waits looks for the server's complaint and
//     names the subject.
//   - When the peer's TCP is frozen, any call on the connection may hang until its flush deadline
//     (nats.FlusherTimeout, a minute by default), because the connection holds its lock meanwhile.
//     Only goroutines made for that call the connection; Submit, the timeouts, and the Stop methods
//     never do. Create, Open, Inspect, Repair, Watch and the Close methods may wait that long.
package natskv
