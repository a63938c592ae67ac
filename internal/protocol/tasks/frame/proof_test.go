package frame

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha512"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// signed is a signature by a party's own key, which nobody else has.
func signed(party string) func([]byte) []byte {
	return func(frame []byte) []byte {
		h := hmac.New(sha512.New, []byte("the key of "+party))
		h.Write(frame)
		return h.Sum(nil)
	}
}

// pairOf is a key pair that nobody else makes.
func pairOf(n int) *KeyPair {
	return NewKeyPair(rand.NewChaCha8([32]byte{byte(n), byte(n >> 8)}).Read)
}

// talkers has two schedulers that lead in turn, a worker, and somebody who hears and sends whatever
// there is to hear and send, but has nobody's keys.
type talkers struct {
	t     *rapid.T
	pairs int // made so far

	terms   []*talkersTerm
	leading string // in the worker's view
	session uint64 // the worker's
	worker  Believer
	keys    map[uint64]string // of all sessions of the worker

	attacker *KeyPair
	sealed   [][]byte          // all that schedulers have sent, or an attacker has made
	by       map[string]string // who has sent a sealed frame to whom
	answers  []talkersAnswer   // that the scheduler has not heard
	lost     int               // frames in a row that the worker has not believed, of the term that it has to believe
	number   uint64
}

type talkersTerm struct {
	leader string
	prover *Prover
	public string
}

type talkersAnswer struct {
	session, number uint64
	key             string
}

func (s *talkers) pair() *KeyPair {
	s.pairs++
	return pairOf(s.pairs)
}

func (s *talkers) begin(leader string) {
	pair := s.pair()
	s.terms = append(s.terms, &talkersTerm{leader, NewProver(pair, signed(leader)), pair.public})
	if leader != s.leading {
		s.worker.Forget()
	}
	s.leading, s.answers, s.lost = leader, nil, 0
}

func (s *talkers) join() {
	pair := s.pair()
	s.session++
	s.worker, s.lost = NewBeliever(pair), 0
	s.keys[s.session] = pair.public
}

func (s *talkers) term() *talkersTerm { return s.terms[len(s.terms)-1] }

// seal has the scheduler of a term seal a frame, which is not sent yet.
func (s *talkers) seal(x *talkersTerm) []byte {
	s.number++
	v := Envelope{Role: "r", Instance: "w", Session: s.session, Number: s.number}
	x.prover.Address(&v)
	sealed := x.prover.Seal(&v, EncodeSync(&v))
	s.by[string(sealed)] = fmt.Sprint(x.leader, " to ", s.session)
	s.sealed = append(s.sealed, sealed)
	return sealed
}

// deliver gives the worker a frame, and reports whether it is believed.
func (s *talkers) deliver(sealed []byte) bool {
	raw, proof, err := Open(sealed)
	if err != nil {
		return false
	}
	v, err := DecodeSync(raw)
	if err != nil || v.Session != s.session ||
		!s.worker.Holds(raw, proof) && !bytes.Equal(signed(s.leading)(raw), proof) {
		return false
	}
	if by, want := s.by[string(sealed)], fmt.Sprint(s.leading, " to ", s.session); by != want {
		s.t.Fatalf("the worker takes a frame for one of %s that is of %q", want, by)
	}
	s.answers = append(s.answers, talkersAnswer{s.session, v.Number, s.worker.Believed(&v)})
	return true
}

// hear gives the scheduler an answer.
func (s *talkers) hear(i int) {
	a := s.answers[i]
	s.answers = slices.Delete(s.answers, i, i+1)
	s.term().prover.Answered(a.session, a.number, a.key)
}

// anybodysKey draws a public key that was sent, or that an attacker has made up.
func (s *talkers) anybodysKey() string {
	keys := []string{s.attacker.public, string(make([]byte, KeySize)), "short", "", s.term().public}
	for session := range s.session {
		keys = append(keys, s.keys[session+1])
	}
	return rapid.SampledFrom(keys).Draw(s.t, "key")
}

// forge makes a frame of one that was sent, or of one that was not, with what an attacker has.
func (s *talkers) forge() []byte {
	v := Envelope{Role: "r", Instance: "w", Session: s.session, Number: 1 << 40, Key: s.anybodysKey()}
	raw := EncodeSync(&v)
	if len(s.sealed) > 0 && rapid.Bool().Draw(s.t, "an old one, changed") {
		old := slices.Clone(rapid.SampledFrom(s.sealed).Draw(s.t, "old"))
		if len(old) > ProofSize {
			old[rapid.IntRange(0, len(old)-1).Draw(s.t, "at")] ^= 1
			return old
		}
	}
	other := s.anybodysKey()
	proofs := [][]byte{
		signed("attacker")(raw), make([]byte, ProofSize), sharedKey("").proof(raw), sharedKey(nil).proof(raw),
		s.attacker.share(other, s.term().public+s.keys[s.session]).proof(raw),
		s.attacker.share(other, other+s.keys[s.session]).proof(raw),
		s.attacker.withWorker(other).proof(raw), s.attacker.withScheduler(other).proof(raw),
	}
	if len(s.sealed) > 0 { // the proof of another frame
		_, proof, _ := Open(rapid.SampledFrom(s.sealed).Draw(s.t, "whose proof"))
		proofs = append(proofs, proof)
	}
	sealed := append(raw, rapid.SampledFrom(proofs).Draw(s.t, "proof")...)
	return sealed
}

// TestProofs: whatever is lost, held up, made up or changed on the way, a worker believes those
// frames alone that the scheduler in its view has sealed for it. And of two frames of that
// scheduler in a row that arrive, the worker believes one, unless somebody has answered the first
// in its name.
func TestProofs(t *testing.T) {
	under := 0 // frames under a shared key
	rapid.Check(t, func(t *rapid.T) {
		s := &talkers{
			t: t, attacker: pairOf(1 << 15), by: map[string]string{}, keys: map[uint64]string{},
		}
		s.join()
		s.begin("a")
		send := func(lost bool) (believed bool) {
			sealed := s.seal(s.term())
			raw, _, _ := Open(sealed)
			if v, _ := DecodeSync(raw); v.Key == "" {
				under++
			}
			if lost {
				return false
			}
			switch believed = s.deliver(sealed); {
			case believed:
				s.lost = 0
			case s.lost > 0:
				t.Fatal("the second frame in a row that the worker does not believe")
			default:
				s.lost++
			}
			return believed
		}
		t.Repeat(map[string]func(*rapid.T){
			"the other one leads": func(*rapid.T) { s.begin(map[string]string{"a": "b", "b": "a"}[s.leading]) },
			"it leads again":      func(*rapid.T) { s.begin(s.leading) },
			"the view goes away and back": func(*rapid.T) {
				s.worker.Forget()
			},
			"the worker has a new session": func(*rapid.T) { s.join() },
			"a frame":                      func(t *rapid.T) { send(rapid.Bool().Draw(t, "lost")) },
			"frames that are answered at once": func(*rapid.T) { // the first two are signed
				for range 3 {
					if before := len(s.answers); send(false) {
						s.hear(before)
					}
				}
			},
			"a frame of a former scheduler": func(t *rapid.T) {
				if x := rapid.SampledFrom(s.terms).Draw(t, "term"); x.leader != s.leading {
					s.deliver(s.seal(x))
				}
			},
			"an answer": func(t *rapid.T) {
				if len(s.answers) > 0 {
					s.hear(rapid.IntRange(0, len(s.answers)-1).Draw(t, "which"))
				}
			},
			"a false answer, as if to the last frame": func(*rapid.T) {
				s.term().prover.Answered(s.session, s.number, s.anybodysKey())
				s.lost = 0 // the scheduler has to believe that the worker has the frame
			},
			"a false answer to an earlier frame": func(t *rapid.T) {
				if s.number > 0 {
					s.term().prover.Answered(s.session, rapid.Uint64Range(0, s.number-1).Draw(t, "number"), s.anybodysKey())
				}
			},
			"a false frame": func(*rapid.T) { s.deliver(s.forge()) },
			"a frame again": func(t *rapid.T) {
				if len(s.sealed) > 0 {
					s.deliver(rapid.SampledFrom(s.sealed).Draw(t, "which"))
				}
			},
		})
	})
	t.Logf("%d frames went under a shared key", under)
	if under < 30 {
		t.Errorf("%d frames went under a shared key: that proves nothing", under)
	}
}
