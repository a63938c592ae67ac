package assign_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestBytesRequired: in an account whose streams need a bound, MaxBytes bounds the stream and the
// object store. Without it the error says what to set.
func TestBytesRequired(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	natstest.RequireBytes(t, s, 8<<20)
	nc := natstest.Connect(t, s)
	create := func(most int64) error {
		cfg := assign.ClientConfig{Namespace: "bound", StreamAutoCreate: true, MaxBytes: most}
		c, err := assign.NewClient(nc, cfg)
		if err != nil {
			return err
		}
		defer c.Close()
		kind := assign.NewKind[int, int]("k")
		if _, err = assign.Submit(t.Context(), c, kind, 1); err != nil {
			return err
		}
		_, err = assign.CreateObjects(t.Context(), nc, cfg)
		return err
	}
	if err := create(0); err == nil || !strings.Contains(err.Error(), "set MaxBytes") {
		t.Errorf("without a bound: %v", err)
	}
	if fault := (*assign.ConfigError)(nil); !errors.As(create(1000), &fault) || fault.Field != "MaxBytes" {
		t.Errorf("with a bound that is too small: %v", fault)
	}
	if err := create(4 << 20); err != nil {
		t.Fatal(err)
	}
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"TASKS_bound", "OBJ_TASKS_bound"} {
		if st, err := js.Stream(t.Context(), name); err != nil || st.CachedInfo().Config.MaxBytes != 4<<20 {
			t.Errorf("%s: %v, %v", name, st, err)
		}
	}
}
