package frame

import (
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha512"
	"errors"
)

// KeyPair is one half of the keys that its owner shares with others, a key with each: an X25519
// pair (RFC 7748). A scheduler makes one for its term, and a worker one for its session. The
// private half never leaves the process.
type KeyPair struct {
	private *ecdh.PrivateKey
	public  string
}

// KeySize is the size of a private and of a public key in bytes.
const KeySize = 32

// NewKeyPair makes a pair of random bytes. read is crypto/rand.Read, which fills its argument and
// never fails.
func NewKeyPair(read func([]byte) (int, error)) *KeyPair {
	var private [KeySize]byte
	_, err := read(private[:])
	key, wrong := ecdh.X25519().NewPrivateKey(private[:])
	if err = errors.Join(err, wrong); err != nil { // never: all bytes of this size are a key (RFC 7748, 5)
		panic(err)
	}
	return &KeyPair{key, string(key.PublicKey().Bytes())}
}

// sharedKey is known to a scheduler and a worker alone. Its proof of a frame is an HMAC-SHA-512
// (RFC 2104), of the size of a signature.
type sharedKey []byte

// withWorker is the key that a scheduler's pair shares with a worker's public key; nil if the text
// is nobody's public key.
func (p *KeyPair) withWorker(public string) sharedKey { return p.share(public, p.public+public) }

// withScheduler is the key that a worker's pair shares with a scheduler's public key.
func (p *KeyPair) withScheduler(public string) sharedKey { return p.share(public, public+p.public) }

// share makes the key that the pair shares with the owner of another public key. The key is bound
// to the scheduler's public key and the worker's, in that order (RFC 5869).
func (p *KeyPair) share(with, both string) sharedKey {
	public, err := ecdh.X25519().NewPublicKey([]byte(with))
	if err != nil {
		return nil
	}
	secret, err := p.private.ECDH(public)
	if err != nil { // a point of low order, for which the secret is known to all
		return nil
	}
	key, err := hkdf.Key(sha512.New, secret, nil, "rolemanager frame key v1\x00"+both, sha512.Size)
	if err != nil {
		return nil
	}
	return key
}

// proof is the proof of a frame.
func (k sharedKey) proof(frame []byte) []byte {
	h := hmac.New(sha512.New, k)
	h.Write(frame)
	return h.Sum(nil)
}

// holds reports whether a proof is that of a frame. No key holds none.
func (k sharedKey) holds(frame, proof []byte) bool {
	return k != nil && hmac.Equal(k.proof(frame), proof)
}
