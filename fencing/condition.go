package fencing

import (
	"strconv"

	"github.com/nats-io/nats.go"
)

// Headers by which the server makes a write conditional (ADR-13 and ADR-50 of NATS).
const (
	headerStream        = "Nats-Expected-Stream"
	headerExpect        = "Nats-Expected-Last-Subject-Sequence"
	headerExpectSubject = "Nats-Expected-Last-Subject-Sequence-Subject"
	headerBatch         = "Nats-Batch-Id"
	headerBatchSequence = "Nats-Batch-Sequence"
	headerBatchCommit   = "Nats-Batch-Commit"
)

// Condition makes the publishing of m conditional on t's term. The server stores m only while the
// record that granted t is the role's present record in bucket. After that it answers 10071 (wrong
// last sequence). Condition is for your own writes into the bucket of the roles itself, since the
// server compares within one stream only. For other data use a [Store] or a [Guard].
//
// [Publish] sends such a message, and handles what follows. To send it otherwise, mind this.
//
//   - Wait for the acknowledgement (js.PublishMsg). A message has one condition, so this condition
//     replaces any other on m.
//   - The client adds neither a JetStream domain nor an API prefix to the subject of a message.
//     For a bucket of the domain hub, publish to $JS.hub.API.$KV.roles.<key>.
//   - On a replicated bucket one such write per role may be in flight. The server refuses another
//     one with 10164 while the term is valid, beside your own writes or the proofs of
//     ValidationInterval and ValidateToken. It was not stored: try again. Proofs try again too.
func Condition(m *nats.Msg, bucket string, t Token) {
	onlyWhile(m, subjectOf(bucket, "c.role."+t.Role), t.Epoch)
}

// onlyWhile makes the publishing of m conditional on the last message of subject being at revision.
func onlyWhile(m *nats.Msg, subject string, revision uint64) {
	if m.Header == nil {
		m.Header = make(nats.Header, 4)
	}
	m.Header.Set(headerExpect, strconv.FormatUint(revision, 10))
	m.Header.Set(headerExpectSubject, subject)
}

func subjectOf(bucket, key string) string { return "$KV." + bucket + "." + key }

func streamOf(bucket string) string { return "KV_" + bucket }
