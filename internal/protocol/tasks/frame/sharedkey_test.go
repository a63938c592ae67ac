package frame

import (
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// TestSharedKey: both sides have the same key, and no other pair nor the other direction has it.
func TestSharedKey(t *testing.T) {
	scheduler, worker, other := pairOf(1), pairOf(2), pairOf(3)
	frame := []byte("frame")
	key := scheduler.withWorker(worker.public)
	proof := key.proof(frame)
	if len(proof) != ProofSize ||
		!worker.withScheduler(scheduler.public).holds(frame, proof) {
		t.Error("the worker does not share the key")
	}
	for what, k := range map[string]sharedKey{
		"another worker":      other.withScheduler(scheduler.public),
		"another scheduler":   worker.withScheduler(other.public),
		"the other direction": worker.withWorker(scheduler.public),
		"no key":              nil,
	} {
		if k.holds(frame, proof) {
			t.Errorf("%s has the key", what)
		}
	}
	if key.holds([]byte("another"), proof) {
		t.Error("the proof of another frame holds")
	}
	order1 := string(make([]byte, KeySize)) // of which everybody knows the secret
	for _, public := range []string{"", "short", strings.Repeat("x", KeySize+1), order1} {
		if scheduler.withWorker(public) != nil {
			t.Errorf("a key is shared with %q", public)
		}
	}
}

// talk is a scheduler that sends frames to a worker.
type talk struct {
	*Prover
	worker Believer
	number uint64
}

// send sends so many frames, and the worker answers each. It returns which were signed, and which
// were not believed.
func (k *talk) send(frames int) (proofs string) {
	for range frames {
		v, raw, proof := k.seal()
		switch {
		case k.worker.Holds(raw, proof):
			proofs += "-"
		case string(signed("s")(raw)) == string(proof):
			proofs += "s"
		default:
			proofs += "?"
			continue
		}
		k.Answered(7, v.Number, k.worker.Believed(&v))
	}
	return proofs
}

func (k *talk) seal() (v Envelope, raw, proof []byte) {
	k.number++
	v = Envelope{Session: 7, Number: k.number}
	k.Address(&v)
	raw, proof, _ = Open(k.Seal(&v, EncodeSync(&v)))
	return v, raw, proof
}

// TestFewSignatures: a scheduler signs the first frames to a worker, and no other one while all are
// answered. After one that was not, it signs one more.
func TestFewSignatures(t *testing.T) {
	k := &talk{Prover: NewProver(pairOf(1), signed("s")), worker: NewBeliever(pairOf(2))}
	want := func(what, proofs string) {
		t.Helper()
		if got := k.send(len(proofs)); got != proofs {
			t.Errorf("%s: %s, want %s", what, got, proofs)
		}
	}
	want("first", "ss---")
	k.seal()
	want("after one that was lost", "s---")
	k.worker.Forget()
	want("a worker that has forgotten the key", "?s--")
	k.Prover = NewProver(pairOf(4), signed("s"))
	want("a later term of the same session", "ss--")
	for n, key := range []string{pairOf(3).public, k.worker.pair.public, pairOf(5).public} {
		if got, want := k.Answered(7, k.number, key), n > 0; got != want {
			t.Errorf("key %d is said to be new: %t, want %t", n, !got, !want)
		}
	}
	want("a session with several keys", "sss")
	k.Forget(7)
	want("a session that was forgotten", "ss--")
	if k.Answered(8, 1, pairOf(3).public); len(k.workers) != 1 {
		t.Error("a key is kept of a session that no frame has gone to")
	}
	v := Envelope{Session: 7}
	if k.Address(&v); v.Key == "" {
		t.Error("a frame without a number is not signed")
	}
}

// TestNobodysKeys: all frames are signed to a worker of a former version, or one whose key is
// nobody's, and such a worker names no key.
func TestNobodysKeys(t *testing.T) {
	for _, key := range []string{"", "short", string(make([]byte, KeySize))} {
		k := talk{Prover: NewProver(pairOf(1), signed("s"))}
		for range 4 {
			v, _, _ := k.seal()
			if v.Key == "" {
				t.Errorf("a frame to a worker with the key %q is not signed", key)
			}
			k.Answered(7, v.Number, key)
		}
	}
	b := NewBeliever(pairOf(2))
	for _, key := range []string{"", "short"} {
		if got := b.Believed(&Envelope{Key: key}); got != "" {
			t.Errorf("the worker answers with a key to a scheduler with the key %q", key)
		}
	}
}

// TestFramesOfAFormerVersion have no key: they end before that field.
func TestFramesOfAFormerVersion(t *testing.T) {
	cut := func(frame []byte) []byte { return frame[:len(frame)-1] }
	v := someEnvelope
	v.Key = ""
	if got, err := DecodeSync(cut(EncodeSync(&v))); err != nil || got != v {
		t.Errorf("%+v, %v", got, err)
	}
	answers := []tasks.Answer{{ID: "x", Verdict: tasks.Accepted}}
	_, _, got, key, err := DecodeAnswers(cut(EncodeAnswers(7, 6, answers, "")))
	if err != nil || len(got) != 1 || key != "" {
		t.Errorf("%v, %q, %v", got, key, err)
	}
	if _, err := DecodeSync(cut(EncodeSync(&someEnvelope))); err == nil {
		t.Error("a frame that ends within the key is read")
	}
}
