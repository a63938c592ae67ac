// Package fencing keeps the leaders of ended terms from doing harm.
//
// No lease can stop a side effect that is already on its way. Nor can it stop a process that was
// paused and still believes that it leads. So the leader shows a [Token] with every action, and the
// resource refuses the tokens of earlier terms.
//
// For example, the leader of term 41 is paused, and term 57 begins. The new leader writes with
// token 57, and the [Guard] admits it. When the old leader continues and writes with token 41, the
// guard refuses it with a *[StaleError].
//
// (Kleppmann, "How to do distributed locking", 2016; Chubby's sequencers; Gray and Cheriton,
// "Leases", 1989.)
//
// # What to use
//
//   - [Guard] compares tokens in the process of the resource.
//   - [Store] is for data that may live in NATS. The server itself compares, so no process in
//     between can get it wrong.
//   - [Publish], with its [Condition], is for single writes into the bucket of the roles itself.
//   - Token.Epoch is for any resource that can compare an integer: UPDATE ... WHERE fence <= $1 in
//     SQL, or a generation in an object store. It never decreases, even if the bucket of the roles
//     is deleted and recreated.
//   - [Signer] and [Verifier] prove that a message comes from the holder of a term.
//
// # Promises
//
//   - A guard admits a token exactly if it is not older than the largest token admitted. Two
//     holders of one epoch are a conflict, and are never both admitted. [Guard.Do] admits no newer
//     token between the check and the act.
//
//   - Once [OpenStore] has returned for a term, no write of an earlier term changes a key in that
//     bucket, however late it arrives. The server ensures that, since each write is conditional on
//     the seal that opening has written.
//
//   - If the acknowledgement of a Store's write is lost, the outcome is found out before the call
//     returns, or the error is [ErrUnknown]. The write never lands later, after another write of
//     the same store.
//
//   - Only [Token.Encode] shows the id of a token; printing, logging and marshalling leave it out.
//     This package never stores the id: a seal holds its hash. A signer's key never leaves the
//     process.
//
// The seal works as follows. Opening a store at epoch 41 writes the seal, for example at revision
// 7, and each write of that store is conditional on revision 7 of the seal. Opening the store at
// epoch 57 replaces the seal, at revision 9. From then on the server refuses each write that is
// conditional on revision 7, with error 10071.
//
// # Failures
//
//   - A guard forgets its tokens when the resource restarts, unless the resource stores the epoch
//     beside its data: see [NewGuard].
//   - A Store fences only writes that go through a Store. A client that publishes to the bucket's
//     subjects without the condition is not fenced: use permissions against that.
//   - Servers may lose acknowledged writes (a power loss without sync_interval: always, a restored
//     backup), and with them the seal. A store whose seal was lost or has gone back to an earlier
//     revision writes nothing more: [ErrSeal].
package fencing
