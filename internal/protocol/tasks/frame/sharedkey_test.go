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
	key := scheduler.share(worker.public, scheduler.public, worker.public)
	proof := key.proof(frame)
	if len(proof) != SignatureSize ||
		!worker.share(scheduler.public, scheduler.public, worker.public).holds(frame, proof) {
		t.Error("the worker does not share the key")
	}
	for what, k := range map[string]sharedKey{
		"another worker":      other.share(scheduler.public, scheduler.public, other.public),
		"another scheduler":   worker.share(other.public, other.public, worker.public),
		"the other direction": worker.share(scheduler.public, worker.public, scheduler.public),
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
		if scheduler.share(public, scheduler.public, public) != nil {
			t.Errorf("a key is shared with %q", public)
		}
	}
}

// talk has a scheduler send frames to a worker, which answers each. It returns which were signed.
func talk(p *Prover, b *Believer, frames int) (signatures string) {
	for number := range uint64(frames) {
		v := Envelope{Session: 7, Number: number + 1}
		p.Address(&v)
		sealed := p.Seal(&v, EncodeSync(&v))
		raw, proof, _ := Open(sealed)
		got, _ := DecodeSync(raw)
		switch {
		case b.Holds(raw, proof):
			signatures += "-"
		case string(signed("s")(raw)) == string(proof):
			signatures += "s"
		default:
			return signatures + "?"
		}
		p.Answered(7, v.Number, b.Believed(&got))
	}
	return signatures
}

// TestOneSignatureForEachWorker: a scheduler signs the first frame to a worker, and no other one
// while all are answered. A worker of a former version, or one whose key is nobody's, has all of
// them signed.
func TestOneSignatureForEachWorker(t *testing.T) {
	p := NewProver(pairOf(1), signed("s"))
	b := NewBeliever(pairOf(2))
	if got := talk(p, &b, 5); got != "s----" {
		t.Errorf("signed: %s", got)
	}
	b.Forget()
	if got := talk(p, &b, 1); got != "?" {
		t.Errorf("a frame that the worker cannot believe: %s", got)
	}
	if got := talk(p, &b, 3); got != "s--" {
		t.Errorf("after it: %s", got)
	}
	if p.Answered(7, 1, pairOf(3).public) {
		t.Error("another key of the same session is not noticed")
	}
	if got := talk(p, &b, 3); got != "sss" {
		t.Errorf("a session with two keys: %s", got)
	}
	p.Forget(7)
	if got := talk(p, &b, 3); got != "s--" {
		t.Errorf("a session that the scheduler has forgotten: %s", got)
	}
	next := NewProver(pairOf(4), signed("s"))
	if got := talk(next, &b, 3); got != "s--" {
		t.Errorf("a later term of the same session: %s", got)
	}
	for _, key := range []string{"", "short", string(make([]byte, KeySize))} {
		p := NewProver(pairOf(1), signed("s"))
		for range 3 {
			v := Envelope{Session: 7, Number: 1}
			p.Address(&v)
			if v.Key == "" {
				t.Errorf("a frame to a worker with the key %q is not signed", key)
			}
			p.Seal(&v, EncodeSync(&v))
			p.Answered(7, 1, key)
		}
		b := NewBeliever(pairOf(2))
		if got := b.Believed(&Envelope{Key: key}); got != "" {
			t.Errorf("the worker answers with a key to a scheduler with the key %q", key)
		}
	}
	p.Answered(8, 1, pairOf(3).public)
	if len(p.workers) != 1 {
		t.Error("a key is kept of a session that no frame has gone to")
	}
	v := Envelope{Session: 7}
	if p.Address(&v); v.Key == "" {
		t.Error("a frame without a number is not signed")
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
