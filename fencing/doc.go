// Package fencing keeps the leaders of ended terms from doing harm.
//
// No lease can stop a side effect that is already on its way, or a process that was paused and goes on with what it
// believed before. So whoever leads shows a [Token] with everything it does, and the resource refuses the tokens of
// earlier terms:
//
//	term 41 ──(paused)─────────────── write, token @41 ──► Guard: high is @57 ──► *StaleError
//	term 57 ────── write, token @57 ──► Guard: admitted, high = @57
//
// (Kleppmann, "How to do distributed locking", 2016; Chubby's sequencers; Gray and Cheriton, "Leases", 1989.)
//
// # What to use
//
//   - [Guard] stands in the process of the resource, and compares.
//   - [Store] is for data that may live in NATS: there the server compares, so that nothing in between can be wrong.
//   - [Condition] is for single writes into the bucket of the roles itself.
//   - Token.Epoch is for whatever can compare an integer: UPDATE ... WHERE fence <= $1 in SQL, a generation in an object
//     store. It never decreases, also when the bucket of the roles is deleted and made again.
//   - [Signer] and [Verifier] prove that a message comes from the holder of a term.
//
// # Promises
//
//   - A guard admits a token exactly if it is not older than the largest one admitted; two holders of one epoch are a
//     conflict, never both admitted. [Guard.Do] lets no newer token in between the check and the act.
//
//   - Once [OpenStore] has returned for a term, no write of an earlier one changes a key in that bucket, however late it
//     arrives; the server sees to it, since each write is conditional on the seal that opening has written.
//
//   - A write of a Store whose acknowledgement was lost is resolved before the call returns, or its error is
//     [ErrUnknown]. It never lands later, after another write of the same store.
//
//   - A token's id is printed, logged and marshalled by nothing but [Token.Encode], and stored by nothing in this
//     package: a seal holds its hash. A signer's key never leaves the process.
//
// How the seal works (rN are revisions, 10071 is the server's refusal):
//
//	open @41: seal r7 ── put if seal is r7 ✓ ─────────────────────── put if seal is r7: 10071
//	open @57:                 seal r9 if seal is r7 ✓ ── put if seal is r9 ✓
//
// # Failures
//
//   - The guards of a resource forget at its restart, unless it stores the epoch beside its data: see [NewGuard].
//   - A Store fences writes that go through a Store. Whoever may publish to the bucket's subjects and does so without the
//     condition is not fenced: permissions are for that.
//   - Acknowledged writes that the servers lose (power loss without sync_interval: always, a restored backup) may take
//     the seal with them. A store whose seal has gone back writes nothing more: [ErrSeal].
//
// # Files
//
//	token.go      Token, its order            encode.go   its text           redact.go  how it prints
//	guard.go      Guard                       errors.go   all errors         signer.go  Signer, Verifier
//	condition.go  Condition, headers
//	store.go      Store: open and write       read.go     Get, Latest, Keys, Watch
//	seal.go       the seal                    commit.go   a write, from the first attempt to its outcome
//	publish.go    one attempt                 scan.go     reading the stream in order
package fencing
