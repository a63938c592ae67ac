package worker

import (
	"bytes"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/natstest/heap"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/workers"
)

// sealed is a verifier of a worker's session, and frames of every type that its scheduler has
// signed for it.
func signedFrame(tb testing.TB) (*frameVerifier, [][]byte) {
	tb.Helper()
	signer, err := fencing.NewSigner()
	if err != nil {
		tb.Fatal(err)
	}
	stranger, err := fencing.NewSigner()
	if err != nil {
		tb.Fatal(err)
	}
	g := &frameVerifier{namespace: "work", role: "scheduler", instance: "w.1", session: 1 << 50, open: true, own: stranger}
	g.see(election.RoleInfo{Leader: "a", Epoch: 1<<50 + 7, Revision: 1<<50 + 7, PublicKey: signer.PublicKey()})
	v := frame.Envelope{
		Namespace: "work", Role: "scheduler", Epoch: 1<<50 + 7, Term: 1<<50 + 5, Instance: "w.1",
		Session: 1 << 50, Number: 6,
	}
	policy := &tasks.Policy{Kind: "checksum.v1", Timeout: time.Minute, Retention: time.Hour, Weight: 1}
	list := []frame.Task{{
		Assignment: tasks.Assignment{ID: "x", Attempt: tasks.Attempt{Epoch: 9, N: 1}, Serial: 3, Try: 2, Policy: policy},
		Payload:    []byte("in"),
	}}
	frames := [][]byte{
		frame.EncodeAssign(&v, 2, list),
		frame.EncodeStop(&v, workers.StopOrder{
			ID: "x", Attempt: tasks.Attempt{Epoch: 9, N: 1}, Serial: 3, Status: tasks.StatusExpired,
		}),
		frame.EncodeSync(&v),
	}
	for i := range frames {
		frames[i] = frame.Seal(frames[i], signer.Sign)
	}
	return g, frames
}

const gateMost = 1 << 20

// TestGateRefusesDamagedFrames: of every type of frame, with each bit turned over, cut off at each
// place and with something added, none is accepted; nor is a frame with the signature of another.
func TestGateRefusesDamagedFrames(t *testing.T) {
	g, frames := signedFrame(t)
	tried := 0
	refuse := func(what string, b []byte) {
		t.Helper()
		_, _, verdict := g.check(arrivedFrame{m: &nats.Msg{Data: b}}, gateMost)
		if tried++; verdict == tasks.Accepted {
			t.Errorf("%s: accepted: %x", what, b)
		}
	}
	for i, whole := range frames {
		if _, _, verdict := g.check(arrivedFrame{m: &nats.Msg{Data: whole}}, gateMost); verdict != tasks.Accepted {
			t.Fatalf("frame %d as it was signed: %v", i, verdict)
		}
		for bit := range 8 * len(whole) {
			damaged := bytes.Clone(whole)
			damaged[bit/8] ^= 1 << (bit % 8)
			refuse("a bit", damaged)
		}
		for n := range whole {
			refuse("the beginning", whole[:n])
			if n > 0 {
				refuse("the end", whole[n:])
			}
		}
		for _, more := range []byte{0, 1, 0xff} {
			refuse("something more at the end", append(bytes.Clone(whole), more))
			refuse("something more at the beginning", append([]byte{more}, whole...))
		}
		other := frames[(i+1)%len(frames)]
		refuse("another's signature", append(bytes.Clone(whole[:len(whole)-64]), other[len(other)-64:]...))
	}
	t.Logf("%d damaged frames, none accepted", tried)
}

// FuzzGate: only frames that were signed, to the byte, are accepted.
func FuzzGate(f *testing.F) {
	g, frames := signedFrame(f)
	for _, frame := range frames {
		f.Add(frame)
		f.Add(frame[:len(frame)-1])
		f.Add(append(bytes.Clone(frame), frame...))
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		verdict := tasks.Accepted
		most := 256<<10 + 64*uint64(len(b))
		if heap.Took(most, func() { _, _, verdict = g.check(arrivedFrame{m: &nats.Msg{Data: b}}, gateMost) }) > most {
			t.Errorf("more than %d bytes for a frame of %d", most, len(b))
		}
		genuine := false
		for _, frame := range frames {
			genuine = genuine || bytes.Equal(b, frame)
		}
		if (verdict == tasks.Accepted) != genuine {
			t.Fatalf("%x: %v", b, verdict)
		}
	})
}
