package fencing

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/nats-io/nkeys"
)

// frameDomain precedes the message in the signed text. So a signature made here is valid nowhere
// else, and a signature made elsewhere with the same key is not valid here.
const frameDomain = "rolemanager frame v1\x00"

// Signer proves that a frame comes from the holder of a term. Its public key is in the role's
// record, which only the holder could write. The key is an Ed25519 key, generated for each session,
// and never leaves the process.
//
// A Signer may be used concurrently and copied; copies share the key.
type Signer struct {
	secret *secret
	key    ed25519.PublicKey
	public string // key, as an nkey
}

type secret struct {
	mu  sync.RWMutex
	key *ed25519.PrivateKey // nil once wiped; behind a second pointer since fmt follows the first for a verb like %s
}

// NewSigner makes a signer with a new key. An error says that the system has no randomness.
func NewSigner() (*Signer, error) {
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("fencing: make a session key: %w", err)
	}
	text, err := nkeys.Encode(nkeys.PrefixByteUser, public)
	if err != nil {
		return nil, fmt.Errorf("fencing: encode a session key: %w", err)
	}
	return &Signer{secret: &secret{key: &key}, key: public, public: string(text)}, nil
}

// PublicKey returns the key to verify with, as an nkey ("U" and 55 letters and digits).
func (s *Signer) PublicKey() string { return s.public }

// Sign returns the signature of message, 64 bytes. Once the signer was wiped, it returns nil, which
// never verifies.
func (s *Signer) Sign(message []byte) []byte {
	s.secret.mu.RLock()
	defer s.secret.mu.RUnlock()
	if s.secret.key == nil {
		return nil
	}
	return ed25519.Sign(*s.secret.key, framed(message))
}

// Verifier makes a verifier for the signatures of s itself, for a process that sends to itself. Key
// and message determine an Ed25519 signature (RFC 8032, 5.1.6). So this verifier signs again and
// compares, in less than half of the time. Once s is wiped, it verifies like any other verifier.
func (s *Signer) Verifier() *Verifier { return &Verifier{key: s.key, own: s} }

// Wipe overwrites the key. The session that made the signer calls it when it ends.
func (s *Signer) Wipe() {
	s.secret.mu.Lock()
	defer s.secret.mu.Unlock()
	if s.secret.key != nil {
		clear(*s.secret.key)
		s.secret.key = nil
	}
}

// String returns the public key's name; nothing secret is in it.
func (s Signer) String() string { return "fencing.Signer(" + s.public + ")" }

// Format prints [Signer.String] for every verb.
func (s Signer) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// Verifier checks the signatures of the [Signer] of a public key. It may be used concurrently.
type Verifier struct {
	key ed25519.PublicKey
	own *Signer // set when the key is that of a signer of this process
}

// NewVerifier makes a verifier from what [Signer.PublicKey] returned.
func NewVerifier(publicKey string) (*Verifier, error) {
	raw, err := nkeys.Decode(nkeys.PrefixByteUser, []byte(publicKey))
	if err != nil {
		return nil, fmt.Errorf("fencing: read public key: %w", err)
	}
	if len(raw) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("fencing: read public key: %d bytes, want %d", len(raw), ed25519.PublicKeySize)
	}
	// Base32 has more than one spelling for a key; a record holds the spelling that Encode writes.
	if text, err := nkeys.Encode(nkeys.PrefixByteUser, raw); err != nil || string(text) != publicKey {
		return nil, errors.New("fencing: read public key: not in the form that PublicKey returns")
	}
	return &Verifier{key: raw}, nil
}

// Verify returns [ErrSignature] unless signature is the signer's signature of message.
func (v *Verifier) Verify(message, signature []byte) error {
	if len(signature) != ed25519.SignatureSize || !v.holds(message, signature) {
		return ErrSignature
	}
	return nil
}

func (v *Verifier) holds(message, signature []byte) bool {
	if v.own != nil {
		if again := v.own.Sign(message); again != nil {
			return subtle.ConstantTimeCompare(again, signature) == 1
		}
	}
	return ed25519.Verify(v.key, framed(message), signature)
}

func framed(message []byte) []byte {
	return append(append(make([]byte, 0, len(frameDomain)+len(message)), frameDomain...), message...)
}
