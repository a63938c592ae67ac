package assign_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
)

// TestConfigNamesEachFault: all faults at once, each with its field and what would do.
func TestConfigNamesEachFault(t *testing.T) {
	s, err := election.NewSession(election.SessionConfig{Bucket: "roles"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = assign.New(s, assign.Config{
		Namespace: "no good", Role: "neither.", Slots: -1, DrainTimeout: -1, CrashBudget: -1, AnswerTimeout: 1, Replicas: 2,
		AgingStep: -time.Second, MaxResult: -1, LargeRetention: time.Second, Verify: 7,
		Labels: map[string]string{"k": "\xff"}, Middleware: []assign.Middleware{nil},
	})
	if err == nil {
		t.Fatal("accepted")
	}
	for _, field := range []string{
		"Namespace", "Role", "Slots", "DrainTimeout", "CrashBudget", "AnswerTimeout", "Replicas", "AgingStep", "MaxResult",
		"LargeRetention",
		"Verify", "Labels", "Middleware",
	} {
		if !strings.Contains(err.Error(), "assign: "+field+": ") {
			t.Errorf("no fault of %s in:\n%v", field, err)
		}
	}
	var fault *assign.ConfigError
	if !errors.As(err, &fault) || fault.Fix == "" {
		t.Errorf("%v", err)
	}
	_, err = assign.New(s, assign.Config{
		Namespace: testNS, Role: testRole, DrainTimeout: math.MaxInt64, AnswerTimeout: math.MaxInt64,
		AgingStep: math.MaxInt64, LargeRetention: math.MaxInt64,
	})
	for _, want := range []string{
		"DrainTimeout: 2562047h47m16.854775807s: use a positive duration of at most 8760h0m0s",
		"AnswerTimeout: 2562047h47m16.854775807s: use 50ms to 1h0m0s",
		"AgingStep: 2562047h47m16.854775807s: use a positive duration of at most 8760h0m0s",
		"LargeRetention: 2562047h47m16.854775807s: use 1m0s to 87600h0m0s",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in:\n%v", want, err)
		}
	}
	if _, err := assign.New(s, assign.Config{Namespace: testNS, Role: testRole}); err != nil {
		t.Errorf("the least configuration: %v", err)
	}
}
