package guides

import (
	"context"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
)

// TestEncryption: only those with the key read inputs and outputs.
func TestEncryption(t *testing.T) {
	nc := connection(t)
	file := filepath.Join(t.TempDir(), "keys")
	key := "2026-11 " + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32))) + "\n"
	if err := os.WriteFile(file, []byte(key), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := election.NewSession(election.SessionConfig{Bucket: "roles", BucketAutoCreate: true})
	if err != nil {
		t.Fatal(err)
	}
	a, err := sealingWorker(s, file)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Open(t.Context(), nc); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	e, err := s.Campaign(election.RoleConfig{Role: "scheduler", Lead: a.Lead})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := assign.Submit(ctx, a, charge, "4111 1111 1111 1111"); err != nil { // the stream is there then
		t.Fatal(err)
	}
	c, err := sealingSubmitter(nc, file, "a")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	p, err := assign.Submit(ctx, c, charge, "4111 1111 1111 1234")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := p.Wait(ctx); out != "charged 1234" || err != nil {
		t.Errorf("%q, %v", out, err)
	}
	plain, err := assign.NewClient(nc, assign.ClientConfig{Namespace: "payments"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(plain.Close)
	if _, err := assign.Find(plain, charge, p.ID()).Wait(ctx); !errors.Is(err, assign.ErrUnknownKey) {
		t.Errorf("without the key: %v", err)
	}
	nobody, err := sealingSubmitter(nc, file, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nobody.Close)
	if _, err := assign.Submit(ctx, nobody, charge, "x"); err == nil {
		t.Error("a task without a tenant is submitted")
	}
}
