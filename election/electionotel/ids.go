package electionotel

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"strconv"

	"go.opentelemetry.io/otel/trace"
)

// TraceID is the id of the trace of a hand-over: that of the term of a role which ended at epoch.
// event.RoleDemoted has that epoch, and the log.
func TraceID(bucket, role string, epoch uint64) trace.TraceID {
	return above(bucket, role, epoch).TraceID()
}

// above is the span above all others of a hand-over.
func above(bucket, role string, epoch uint64) trace.SpanContext {
	sum := sha256.Sum256([]byte("rolemanager hand-over\x00" + bucket + "\x00" + role + "\x00" +
		strconv.FormatUint(epoch, 10)))
	return trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID(sum[:16]), SpanID: trace.SpanID(sum[16:24]), TraceFlags: trace.FlagsSampled, Remote: true,
	})
}

// IDGenerator makes random ids, but for the root of a hand-over, whose ids all processes derive. It
// is an IDGenerator of the SDK's trace package, for its WithIDGenerator.
type IDGenerator struct{}

// NewIDGenerator returns a generator. It may be used concurrently.
func NewIDGenerator() *IDGenerator { return &IDGenerator{} }

// NewIDs returns the ids of a span that begins a trace.
func (*IDGenerator) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	if w := wished(ctx); w != nil && w.root.IsValid() {
		return w.root.TraceID(), w.root.SpanID()
	}
	var t trace.TraceID
	for !t.IsValid() {
		binary.NativeEndian.PutUint64(t[:8], rand.Uint64())
		binary.NativeEndian.PutUint64(t[8:], rand.Uint64())
	}
	return t, newSpanID()
}

// NewSpanID returns the id of a span that continues a trace.
func (*IDGenerator) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	if w := wished(ctx); w != nil {
		w.heard = true
	}
	return newSpanID()
}

func newSpanID() (s trace.SpanID) {
	for !s.IsValid() {
		binary.NativeEndian.PutUint64(s[:], rand.Uint64())
	}
	return s
}

// wish is what a Sink tells a generator by the context of a new span.
type wish struct {
	root  trace.SpanContext // the ids that the span shall have, if it begins a trace
	heard bool              // there is such a generator
}

type wishKey struct{}

func wished(ctx context.Context) *wish {
	w, _ := ctx.Value(wishKey{}).(*wish)
	return w
}
