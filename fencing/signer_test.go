package fencing

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nkeys"
)

func TestSignVerify(t *testing.T) {
	s, other := must(NewSigner()), must(NewSigner())
	message := []byte("assign task 7")
	sig := s.Sign(message)
	flipped := append([]byte(nil), sig...)
	flipped[3] ^= 1
	wrong := map[string]struct{ message, sig []byte }{
		"other message":   {[]byte("assign task 8"), sig},
		"other key":       {message, other.Sign(message)},
		"flipped bit":     {message, flipped},
		"short":           {message, sig[:63]},
		"none":            {message, nil},
		"without domain":  {message, ed25519.Sign(*s.secret.key, message)},
		"domain as frame": {append([]byte(frameDomain), message...), sig},
	}
	check := func(t *testing.T, v *Verifier) {
		if err := v.Verify(message, sig); err != nil {
			t.Errorf("our own signature: %v", err)
		}
		for name, c := range wrong {
			if err := v.Verify(c.message, c.sig); !errors.Is(err, ErrSignature) {
				t.Errorf("%s: Verify = %v, want ErrSignature", name, err)
			}
		}
	}
	t.Run("public key", func(t *testing.T) { check(t, must(NewVerifier(s.PublicKey()))) })
	t.Run("signer itself", func(t *testing.T) { check(t, s.Verifier()) })
	if !nkeys.IsValidPublicUserKey(s.PublicKey()) {
		t.Errorf("%q is not an nkey", s.PublicKey())
	}
	// A signature is plain Ed25519 over domain and message, so any nkeys library can verify it.
	pub := must(nkeys.FromPublicKey(s.PublicKey()))
	if err := pub.Verify(framed(message), sig); err != nil {
		t.Errorf("nkeys does not verify it: %v", err)
	}
	own := s.Verifier()
	s.Wipe()
	t.Run("signer that was wiped", func(t *testing.T) { check(t, own) })
}

func TestNewVerifierRefuses(t *testing.T) {
	good := must(NewSigner()).PublicKey()
	account := must(nkeys.CreateAccount())
	for _, key := range []string{
		"", "U", good[:55], good + "A", good + "\n", strings.ToLower(good),
		must(account.PublicKey()), string(must(must(nkeys.CreateUser()).Seed())),
	} {
		if _, err := NewVerifier(key); err == nil {
			t.Errorf("NewVerifier(%.12q…) took it", key)
		}
	}
}

func TestWipe(t *testing.T) {
	s := must(NewSigner())
	key := *s.secret.key
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			v := must(NewVerifier(s.PublicKey()))
			for sig := s.Sign([]byte("m")); sig != nil; sig = s.Sign([]byte("m")) {
				if err := v.Verify([]byte("m"), sig); err != nil {
					t.Error("a signature made while the key is wiped is either whole or none")
				}
			}
		})
	}
	s.Wipe()
	s.Wipe()
	wg.Wait()
	for _, b := range key {
		if b != 0 {
			t.Fatal("the key is still in memory")
		}
	}
}

func TestSignerPrintsNothingSecret(t *testing.T) {
	s := must(NewSigner())
	seed := s.secret.key.Seed()
	var out strings.Builder
	type holder struct {
		s Signer
		p *Signer
	}
	for _, verb := range "vdsxXqp" {
		for _, flag := range []string{"", "+", "#"} {
			for _, v := range []any{s, *s, holder{*s, s}, []*Signer{s}, s.Verifier(), *s.Verifier()} {
				fmt.Fprintf(&out, "%"+flag+string(verb), v)
			}
		}
	}
	for _, secret := range []string{
		fmt.Sprintf("%x", seed[:8]), fmt.Sprintf("%X", seed[:8]),
		strings.Trim(fmt.Sprint(seed[:8]), "[]"), string(seed),
	} {
		if strings.Contains(out.String(), secret) {
			t.Errorf("the seed is printed as %q", secret)
		}
	}
}

func BenchmarkSign(b *testing.B) {
	s := must(NewSigner())
	message := make([]byte, 512)
	sig := s.Sign(message)
	b.Run("sign", func(b *testing.B) {
		for b.Loop() {
			s.Sign(message)
		}
	})
	for name, v := range map[string]*Verifier{"verify": must(NewVerifier(s.PublicKey())), "verify-own": s.Verifier()} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := v.Verify(message, sig); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
