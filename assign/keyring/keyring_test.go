package keyring_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/assign/keyring"
	"github.com/rolemanager/rolemanager/internal/natstest/heap"
)

// key makes a key whose secret is one byte, again and again.
func key(id string, b byte) keyring.Key {
	return keyring.Key{ID: id, Secret: bytes.Repeat([]byte{b}, 32)}
}

func ring(t *testing.T, seals keyring.Key, opens ...keyring.Key) *keyring.Ring {
	t.Helper()
	r, err := keyring.New(seals, opens...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRotation: a new key opens everywhere before it seals anywhere, and the old one opens until
// nothing is left of it.
func TestRotation(t *testing.T) {
	about, text := []byte("about"), []byte("text")
	old, ready := ring(t, key("1", 1)), ring(t, key("1", 1), key("2", 2))
	turned, done := ring(t, key("2", 2), key("1", 1)), ring(t, key("2", 2))
	opens := func(from, to *keyring.Ring) error {
		t.Helper()
		id, sealed, err := from.Seal(text, about)
		if err != nil {
			t.Fatal(err)
		}
		got, err := to.Open(id, sealed, about)
		if err == nil && !bytes.Equal(got, text) {
			t.Errorf("%q", got)
		}
		return err
	}
	for _, pair := range [][2]*keyring.Ring{{old, ready}, {ready, old}, {turned, ready}, {ready, turned}, {turned, done}} {
		if err := opens(pair[0], pair[1]); err != nil {
			t.Errorf("%v to %v: %v", pair[0].Keys(), pair[1].Keys(), err)
		}
	}
	for _, pair := range [][2]*keyring.Ring{{turned, old}, {old, done}} {
		if err := opens(pair[0], pair[1]); !errors.Is(err, assign.ErrUnknownKey) {
			t.Errorf("%v to %v: %v", pair[0].Keys(), pair[1].Keys(), err)
		}
	}
	if err := opens(old, ring(t, key("1", 9))); !errors.Is(err, assign.ErrTampered) {
		t.Errorf("another secret of the same id: %v", err)
	}
}

// TestTampered: each bit counts, and what it is about; nothing is sealed twice in the same way.
func TestTampered(t *testing.T) {
	r := ring(t, key("1", 1))
	id, sealed, err := r.Seal([]byte("text"), []byte("about"))
	if err != nil {
		t.Fatal(err)
	}
	if len(sealed) != len("text")+44 {
		t.Errorf("%d bytes", len(sealed))
	}
	for i := range 8 * len(sealed) {
		changed := bytes.Clone(sealed)
		changed[i/8] ^= 1 << (i % 8)
		if _, err := r.Open(id, changed, []byte("about")); !errors.Is(err, assign.ErrTampered) {
			t.Errorf("bit %d: %v", i, err)
		}
	}
	for n := range sealed {
		if _, err := r.Open(id, sealed[:n], []byte("about")); !errors.Is(err, assign.ErrTampered) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	if _, err := r.Open(id, sealed, []byte("other")); !errors.Is(err, assign.ErrTampered) {
		t.Errorf("about something else: %v", err)
	}
	if _, again, _ := r.Seal([]byte("text"), []byte("about")); bytes.Equal(again, sealed) {
		t.Error("it is the same again")
	}
}

// FuzzParse: a text is keys or is refused, and a ring opens what it seals.
func FuzzParse(f *testing.F) {
	f.Add([]byte("a " + base64.StdEncoding.EncodeToString(make([]byte, 32))))
	f.Add([]byte("# a\n\na b"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var r *keyring.Ring
		var err error
		heap.Bounded(t, len(text), func() { r, err = keyring.Parse(text) })
		if (err == nil) != (r != nil) || err != nil && !errors.Is(err, keyring.ErrInvalidKey) {
			t.Fatalf("%q: %v, %v", text, r, err)
		}
		if r == nil {
			return
		}
		id, sealed, err := r.Seal(text, nil)
		if got, _ := r.Open(id, sealed, nil); err != nil || !bytes.Equal(got, text) {
			t.Fatalf("%q: %v", text, err)
		}
	})
}

func TestParse(t *testing.T) {
	secret := func(b byte) string { return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{b}, 32)) }
	file := filepath.Join(t.TempDir(), "keys")
	text := "# of the tasks\n\n2026-11 " + secret(1) + "\n  2025-11\t" + secret(2) + "\r\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := keyring.ReadFile(file)
	if err != nil || strings.Join(r.Keys(), " ") != "2025-11 2026-11" {
		t.Fatalf("%v, %v", r, err)
	}
	if id, _, _ := r.Seal(nil, nil); id != "2026-11" {
		t.Errorf("%s seals", id)
	}
	for what, text := range map[string]string{
		"nothing": "", "a comment": "# a", "one field": "a", "three": "a b c", "not base64": "a ???",
		"too short": "a AAAA", "an id": "a/b " + secret(1), "twice": "a " + secret(1) + "\na " + secret(2),
	} {
		_, err := keyring.Parse([]byte(text))
		if !errors.Is(err, keyring.ErrInvalidKey) || strings.Contains(err.Error(), "AAAA") ||
			strings.Contains(err.Error(), "???") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := keyring.ReadFile(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}
