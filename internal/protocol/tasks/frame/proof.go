package frame

// A frame is proven to come from the scheduler by its last bytes: a signature, or an HMAC under a
// key that the scheduler shares with the worker. A signature and its check take many times as long.
//
// A signed frame has the scheduler's public key in its last field. So that key is authentic, and
// the worker can share a key with the scheduler as soon as it has believed the frame. The worker's
// public key is in its answer, which nothing proves. A false one cannot make the worker believe
// anything, for the worker does not share that key. It makes the worker refuse a frame. Therefore:
//
//   - A frame goes under the shared key only if the last one that did was answered, or a later one.
//     If not, the frame is signed.
//   - All frames to a session are signed once its answers have named two keys, for then somebody
//     else answers in its name.
//   - Frames without a number are signed, since an answer does not say to which of them it is.

// worthSharing is how many numbered frames to a session are signed before a key is shared. To share
// one takes each side as long as two signatures.
const worthSharing = 2

// Prover is the scheduler's side of the proofs, for one term. It is not for concurrent use.
type Prover struct {
	pair    *KeyPair
	sign    func(frame []byte) []byte
	workers map[uint64]*sharing // by session: those to which a signed frame has gone
}

// sharing is what the scheduler knows of the key that it shares with a worker.
type sharing struct {
	public     string    // the worker's, as its answers have it; "" for none
	key        sharedKey // nil until it is needed
	signAll    bool      // no key is shared with this session
	signed     int       // numbered frames
	unanswered uint64    // the number of the last frame under the key, 0 once it was answered
}

// NewProver makes a prover that signs frames with sign.
func NewProver(pair *KeyPair, sign func(frame []byte) []byte) *Prover {
	return &Prover{pair: pair, sign: sign, workers: map[uint64]*sharing{}}
}

// Address sets Key, which says how the next frame to the session of v is to be proven.
func (p *Prover) Address(v *Envelope) {
	v.Key = p.pair.public
	s := p.workers[v.Session]
	if s == nil || s.public == "" || s.signAll || s.signed < worthSharing || s.unanswered > 0 || v.Number == 0 {
		return
	}
	if s.key == nil {
		s.key = p.pair.withWorker(s.public)
	}
	if s.signAll = s.key == nil; !s.signAll {
		v.Key = ""
	}
}

// Seal appends the proof to a frame under the envelope v: a signature if v has a key.
func (p *Prover) Seal(v *Envelope, frame []byte) []byte {
	s := p.workers[v.Session]
	if v.Key == "" && s != nil && s.key != nil {
		s.unanswered = v.Number
		return Seal(frame, s.key.proof)
	}
	if s == nil {
		s = &sharing{}
		p.workers[v.Session] = s
	}
	if v.Number > 0 {
		s.signed++
	}
	return Seal(frame, p.sign)
}

// Answered says that an answer to a frame has come in a worker's name, with the public key in it,
// "" for none. It returns false if the key is the first one that differs from one before.
func (p *Prover) Answered(session, number uint64, public string) bool {
	s := p.workers[session]
	if s == nil {
		return true
	}
	if number >= s.unanswered {
		s.unanswered = 0
	}
	switch {
	case public == "" || public == s.public || s.signAll:
		return true
	case s.public == "":
		s.public = public
		return true
	}
	s.signAll = true
	return false
}

// Forget drops what is kept of a session that is dead.
func (p *Prover) Forget(session uint64) { delete(p.workers, session) }

// Believer is the worker's side of the proofs, for one session. It is not for concurrent use.
type Believer struct {
	pair   *KeyPair
	public string    // the scheduler's, "" for none
	key    sharedKey // nil until it is needed
}

// NewBeliever makes a believer that shares no key yet.
func NewBeliever(pair *KeyPair) Believer { return Believer{pair: pair} }

// Holds reports whether a frame is proven by the key that is shared with the scheduler.
func (b *Believer) Holds(frame, proof []byte) bool {
	if b.key == nil && b.public != "" {
		b.key = b.pair.withScheduler(b.public)
	}
	return b.key.holds(frame, proof)
}

// Believed says that a frame was believed, and all about it was right. It returns the public key to
// answer with, "" for none: the frame names no key, since it was not signed, or by a scheduler of a
// former version.
func (b *Believer) Believed(v *Envelope) (answer string) {
	if len(v.Key) != KeySize {
		return ""
	}
	if v.Key != b.public {
		b.public, b.key = v.Key, nil
	}
	return b.pair.public
}

// Forget drops the key: another session leads.
func (b *Believer) Forget() { b.public, b.key = "", nil }
