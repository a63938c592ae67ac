package fencing

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/internal/natstest/heap"
)

// FuzzToken: a text is the text of one token or of none. The verdict of a Guard depends only on the
// parts of the token. Reading takes memory in proportion to the text, and an error never holds any
// part of the text.
func FuzzToken(f *testing.F) {
	base := NewToken("scheduler", "node-1", 42, 0, testID)
	for _, text := range []string{
		base.Encode(), NewToken("task/7", "nöde 1", 1<<63, 9, testID).Encode(),
		NewToken("a%2fb", "/", 1, 1<<32-1, testID).Encode(),
		"", "rmt1", "rmt1/////", "rmt2/r/h/1/0/" + testID.String(), "rmt1/r/h/01/0/" + testID.String(),
		"rmt1/r/h/1/0/" + strings.ToUpper(testID.String()),
		"rmt1/r/h/1/0/urn:uuid:" + testID.String(), "rmt1/" + strings.Repeat("%00", 600) + "/h/1/0/" + testID.String(),
		"rmt1/%zz/h/1/0/" + testID.String(),
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var tok Token
		var err error
		if most := 256<<10 + 64*uint64(len(text)); heap.Took(most, func() { tok, err = Parse(text) }) > most {
			t.Errorf("more than %d bytes for a text of %d", most, len(text))
		}
		if err != nil {
			if !errors.Is(err, ErrSyntax) || !tok.IsZero() {
				t.Fatalf("Parse(%q) = %v, %v", text, tok, err)
			}
			if len(text) > 40 && strings.Contains(err.Error(), text[len(text)-36:]) {
				t.Fatalf("the error repeats the text: %v", err)
			}
			return
		}
		if tok.Encode() != text || !tok.complete() {
			t.Fatalf("%q is read as the token of %q", text, tok.Encode())
		}
		g := NewGuard(base)
		switch err := g.Admit(tok); {
		case err == nil && tok.Role == base.Role && (tok.Compare(base) > 0 || tok.Equal(base)):
		case errors.Is(err, ErrStale) && tok.Compare(base) < 0:
		case errors.As(err, new(*ConflictError)) && tok.Compare(base) == 0 && !tok.Equal(base):
		case errors.As(err, new(*RoleError)) && tok.Role != base.Role:
		default:
			t.Fatalf("a guard of %v on %v: %v", base, tok, err)
		}
	})
}

// FuzzSignature: for any key, message and signature, only a signature of the signer verifies.
func FuzzSignature(f *testing.F) {
	s := must(NewSigner())
	other := must(NewSigner())
	message := []byte("assign task 7")
	f.Add(s.PublicKey(), message, s.Sign(message))
	f.Add(other.PublicKey(), message, s.Sign(message))
	f.Add(s.PublicKey(), message, make([]byte, ed25519.SignatureSize))
	f.Add("", []byte(nil), []byte(nil))
	f.Add(strings.ToLower(s.PublicKey()), message, s.Sign(message))
	f.Add("U"+strings.Repeat("A", 55), message, make([]byte, ed25519.SignatureSize))
	f.Fuzz(func(t *testing.T, key string, m, signature []byte) {
		var v *Verifier
		var err error
		if most := 256<<10 + 64*uint64(len(key)+len(m)+len(signature)); heap.Took(most, func() {
			if v, err = NewVerifier(key); err == nil {
				_ = v.Verify(m, signature)
			}
		}) > most {
			t.Errorf("more than %d bytes for %d, %d and %d", most, len(key), len(m), len(signature))
		}
		if err != nil {
			return
		}
		if key != s.PublicKey() && key != other.PublicKey() {
			return // a key that anybody may have made up: what it verifies is of its own
		}
		// Ed25519 signatures are deterministic, so the signer itself says what its signature is.
		signer := map[string]*Signer{s.PublicKey(): s, other.PublicKey(): other}[key]
		want := string(signature) == string(signer.Sign(m))
		for _, v := range []*Verifier{v, signer.Verifier()} {
			if ok := v.Verify(m, signature) == nil; ok != want {
				t.Fatalf("%x over %x: accepted %v", signature, m, ok)
			}
		}
	})
}

// FuzzSeal: any value at a store's seal counts as our own only if it names our role, holder, epoch
// and id. It is overwritten only if its term is an earlier term of our role.
func FuzzSeal(f *testing.F) {
	s := &Store{token: NewToken("scheduler", "node-1", 42, 3, testID), self: "self"}
	own := must(json.Marshal(s.sealRecord()))
	f.Add(own)
	for _, text := range []string{`{}`, `null`, `{"v":1,"role":"scheduler","holder":"node-1","epoch":42,"seq":3}`, `{"v":1,"role":"scheduler","epoch":41}`, `{"v":1,"role":"x","epoch":1}`, `{"v":1,"role":"scheduler","epoch":43}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var rec sealRecord
		var is bool
		if most := 256<<10 + 64*uint64(len(b)); heap.Took(most, func() { rec, is = decodeSeal(b) }) > most {
			t.Errorf("more than %d bytes for a record of %d", most, len(b))
		}
		if !is {
			return
		}
		ours, err := s.judge(rec)
		same := rec.Role == "scheduler" && rec.Holder == "node-1" && rec.Epoch == 42 && rec.Seq == 3 &&
			rec.IDHash == idHash(s.token)
		earlier := rec.Role == "scheduler" && (rec.Epoch < 42 || rec.Epoch == 42 && rec.Seq < 3)
		if ours != same || (err == nil) != (same || earlier) {
			t.Fatalf("%+v: ours %v, %v", rec, ours, err)
		}
	})
}

// TestDamagedTokens: the text of a token with one flipped bit, or cut off anywhere, is never read
// as that token. A message, a signature or a key with such a change never verifies.
func TestDamagedTokens(t *testing.T) {
	tok := NewToken("task/7", "nöde 1", 1<<50, 9, testID)
	text := tok.Encode()
	for bit := range 8 * len(text) {
		damaged := []byte(text)
		damaged[bit/8] ^= 1 << (bit % 8)
		if got, err := Parse(string(damaged)); err == nil && got.Equal(tok) {
			t.Errorf("%q is read as %q", damaged, text)
		}
	}
	for n := range text {
		if got, err := Parse(text[:n]); err == nil {
			t.Errorf("%d bytes are read as %v", n, got)
		}
	}

	s := must(NewSigner())
	message, key := []byte("a message that is neither short nor long"), s.PublicKey()
	signature := s.Sign(message)
	for name, b := range map[string][]byte{"message": message, "signature": signature, "key": []byte(key)} {
		for bit := range 8 * len(b) {
			b := append([]byte(nil), b...)
			b[bit/8] ^= 1 << (bit % 8)
			m, sig, k := message, signature, key
			switch name {
			case "message":
				m = b
			case "signature":
				sig = b
			case "key":
				k = string(b)
			}
			if v, err := NewVerifier(k); err == nil && v.Verify(m, sig) == nil {
				t.Errorf("bit %d of the %s makes no difference", bit, name)
			}
		}
	}
}
