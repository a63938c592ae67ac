package worker

import (
	"errors"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
)

// frameVerifier decides whether a frame comes from the scheduler, and is for this worker. It learns
// about the scheduler from the view alone: a frame with a newer epoch is not believed, it only
// waits a moment for the view.
type frameVerifier struct {
	namespace, role, instance string
	session                   uint64
	open                      bool            // our record was seen on the watch, see assign
	trusting                  bool            // signatures are not checked: VerifyOff
	own                       *fencing.Signer // our session's: it may be the one that leads

	epoch    uint64 // of the leader in view, 0: nobody leads
	highest  uint64 // revision of the role's record that was ever in view; never decreases
	key      string
	verifier *fencing.Verifier
	shared   frame.Believer
}

// see takes the view's state of the role, and reports whether the epoch is new.
func (g *frameVerifier) see(info election.RoleInfo) bool {
	if info.Revision < g.highest {
		return false
	}
	g.highest = info.Revision
	if info.Leader == "" {
		g.epoch = 0
		return false
	}
	if info.PublicKey != g.key {
		g.key = info.PublicKey
		g.verifier = g.verifierOf(info.PublicKey)
		g.shared.Forget()
	}
	fresh := info.Epoch != g.epoch
	g.epoch = info.Epoch
	return fresh
}

// verifierOf returns nil, which verifies nothing, if the text is not a public key.
func (g *frameVerifier) verifierOf(publicKey string) *fencing.Verifier {
	if g.own.PublicKey() == publicKey {
		return g.own.Verifier()
	}
	v, _ := fencing.NewVerifier(publicKey)
	return v
}

// check looks at a frame in this order: size, version; then, by the rules, stale epoch, proof,
// audience. Expiry and replay are checked for each assignment, and so after the proof. Times in
// a frame count from its arrival, because the clocks of two machines are not compared, and a frame
// as a whole has no time to be late by.
func (g *frameVerifier) check(f arrivedFrame, most int) (raw []byte, v frame.Envelope, verdict tasks.Verdict) {
	if len(f.m.Data) > most {
		return nil, v, tasks.TooLarge
	}
	raw, proof, err := frame.Open(f.m.Data)
	if err == nil {
		v, _, err = frame.DecodeEnvelope(raw)
	}
	switch {
	case errors.Is(err, frame.ErrVersion):
		return nil, v, tasks.Unsupported
	case err != nil:
		return nil, v, tasks.Forged
	}
	us := g.addressee()
	believed := func() bool { return f.inMemory && g.leads() || g.proven(raw, proof) }
	if verdict := us.Judge(&v, believed); verdict != tasks.Accepted {
		return nil, v, verdict
	}
	return raw, v, tasks.Accepted
}

func (g *frameVerifier) addressee() frame.Addressee {
	return frame.Addressee{
		Namespace: g.namespace, Role: g.role, Instance: g.instance, Session: g.session, Epoch: g.epoch, Highest: g.highest,
		Open: g.open,
	}
}

// leads reports whether the leader in view is our own session. Then a frame that has not left the
// process needs no proof: only the holder of the term could have made it.
func (g *frameVerifier) leads() bool { return g.epoch > 0 && g.key == g.own.PublicKey() }

// proven reports whether a frame is proven by the key that we share with the leader in view, or
// signed with its own.
func (g *frameVerifier) proven(frame, proof []byte) bool {
	return g.trusting || g.shared.Holds(frame, proof) || g.verifier != nil && g.verifier.Verify(frame, proof) == nil
}
