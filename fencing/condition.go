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

// Condition makes the publishing of m conditional on t's term: the server stores m only while the role's record in
// bucket is the one that granted t, and answers 10071 (wrong last sequence) from then on. It is for writes of your own
// into the bucket of the roles itself, since the server compares within one stream only; for data elsewhere use a
// [Store] or a [Guard].
//
// m must be published to JetStream with an acknowledgement awaited (js.PublishMsg), to a subject of that bucket. The
// condition takes the place of any other on m: one message has one. On a replicated bucket one such write per role may
// be in flight; another one is answered with 10164 and may be tried again.
func Condition(m *nats.Msg, bucket string, t Token) {
	onlyWhile(m, subjectOf(bucket, "role."+t.Role), t.Epoch)
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
