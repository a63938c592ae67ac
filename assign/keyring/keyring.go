package keyring

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/rolemanager/rolemanager/assign"
)

// Key is a secret with a name.
type Key struct {
	// ID names the key in each value that it seals, for everybody to read: letters, digits, - _ and
	// dots, 64 at most.
	ID string
	// Secret is 32 random bytes.
	Secret []byte
}

// Ring is a set of keys. It is an [assign.Codec], and safe for concurrent use.
type Ring struct {
	seals   string
	secrets map[string][]byte
}

const (
	secretSize = 32
	saltSize   = 16
	maxID      = 64
)

// New makes a ring. The first key seals, and all of them open. Errors: ErrInvalidKey for a key
// without a valid id, with a secret of another size, or given twice.
func New(seals Key, opens ...Key) (*Ring, error) {
	r := &Ring{seals: seals.ID, secrets: map[string][]byte{}}
	for _, k := range append([]Key{seals}, opens...) {
		switch {
		case !validID(k.ID):
			return nil, fmt.Errorf("%w: id %.100q: use letters, digits, - _ and dots, %d at most", ErrInvalidKey, k.ID, maxID)
		case len(k.Secret) != secretSize:
			return nil, fmt.Errorf("%w: the secret of %s has %d bytes: use %d random ones", ErrInvalidKey, k.ID, len(k.Secret),
				secretSize)
		case r.secrets[k.ID] != nil:
			return nil, fmt.Errorf("%w: %s is there twice", ErrInvalidKey, k.ID)
		}
		r.secrets[k.ID] = bytes.Clone(k.Secret)
	}
	return r, nil
}

// ErrInvalidKey says that a key, or a line of a file of keys, is not valid.
var ErrInvalidKey = errors.New("keyring: not a valid key")

func validID(id string) bool {
	return id != "" && len(id) <= maxID && strings.Trim(id,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == ""
}

// Parse reads keys, one on a line: the id, a space, and the secret in base64. The first key seals.
// Empty lines and lines that begin with # say nothing. Errors: ErrInvalidKey, which names the line
// and never shows a secret.
func Parse(text []byte) (*Ring, error) {
	var keys []Key
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if len(fields) != 2 {
			return nil, fmt.Errorf("%w: line %d: write an id, a space, and the secret in base64", ErrInvalidKey, number)
		}
		secret, err := base64.StdEncoding.DecodeString(fields[1])
		if err != nil {
			return nil, fmt.Errorf("%w: line %d: the secret is not base64", ErrInvalidKey, number)
		}
		keys = append(keys, Key{fields[0], secret})
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("%w: there is no key: write an id, a space, and 32 random bytes in base64", ErrInvalidKey)
	}
	return New(keys[0], keys[1:]...)
}

// ReadFile is [Parse] of a file. Errors: also those of reading it.
func ReadFile(name string) (*Ring, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("keyring: %w", err)
	}
	r, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

// Keys are the ids of all keys, in order.
func (r *Ring) Keys() []string { return slices.Sorted(maps.Keys(r.secrets)) }

// Seal seals data with the first key.
func (r *Ring) Seal(data, about []byte) (key string, sealed []byte, err error) {
	salt := make([]byte, saltSize, saltSize+len(data)+28)
	_, _ = rand.Read(salt) // it never fails
	c, err := r.cipher(r.seals, salt)
	if err != nil {
		return "", nil, err
	}
	return r.seals, c.Seal(salt, nil, data, about), nil
}

// Open opens what a key has sealed. Errors: [assign.ErrUnknownKey], [assign.ErrTampered].
func (r *Ring) Open(key string, sealed, about []byte) ([]byte, error) {
	if r.secrets[key] == nil {
		return nil, assign.ErrUnknownKey
	}
	if len(sealed) < saltSize {
		return nil, assign.ErrTampered
	}
	c, err := r.cipher(key, sealed[:saltSize])
	if err != nil {
		return nil, err
	}
	data, err := c.Open(nil, nil, sealed[saltSize:], about)
	if err != nil {
		return nil, assign.ErrTampered
	}
	return data, nil
}

// cipher makes the cipher of one value. It puts a random nonce of twelve bytes before the result.
func (r *Ring) cipher(key string, salt []byte) (cipher.AEAD, error) {
	of, err := hkdf.Key(sha256.New, r.secrets[key], salt, "rolemanager keyring 1", secretSize)
	if err != nil {
		return nil, fmt.Errorf("keyring: %w", err)
	}
	block, err := aes.NewCipher(of)
	if err != nil {
		return nil, fmt.Errorf("keyring: %w", err)
	}
	return cipher.NewGCMWithRandomNonce(block)
}
