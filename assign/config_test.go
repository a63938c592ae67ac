package assign_test

import (
	"errors"
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
		AgingStep: -time.Second, MaxResult: -1, LargeRetention: time.Second, Verify: 7, Middleware: []assign.Middleware{nil},
	})
	if err == nil {
		t.Fatal("accepted")
	}
	for _, field := range []string{
		"Namespace", "Role", "Slots", "DrainTimeout", "CrashBudget", "AnswerTimeout", "Replicas", "AgingStep", "MaxResult", "LargeRetention",
		"Verify", "Middleware",
	} {
		if !strings.Contains(err.Error(), "assign: "+field+": ") {
			t.Errorf("no fault of %s in:\n%v", field, err)
		}
	}
	var fault *assign.ConfigError
	if !errors.As(err, &fault) || fault.Fix == "" {
		t.Errorf("%v", err)
	}
	if _, err := assign.New(s, assign.Config{Namespace: testNS, Role: testRole}); err != nil {
		t.Errorf("the least configuration: %v", err)
	}
}
