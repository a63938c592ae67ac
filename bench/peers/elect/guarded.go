package elect

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/bench/proc"
	"github.com/rolemanager/rolemanager/guard"
)

// GuardedKind is the name of a child that is the guard of one that contends. It ends after it.
const GuardedKind = "guarded"

// ServeGuarded is the life of such a guard. The candidate has its input and output.
func ServeGuarded(ctx context.Context, text json.RawMessage, _ *proc.Line) (proc.Calls, error) {
	var p Process
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, err
	}
	nc, err := nats.Connect("nats://" + p.Addr)
	if err != nil {
		return nil, err
	}
	defer nc.Close()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = proc.Environ(Kind, string(text))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.NewFile(1, "stdout"), os.Stderr
	r, err := guard.Run(ctx, guard.Config{Conn: nc}, cmd)
	if err != nil {
		return nil, err
	}
	for _, s := range r.Left {
		return nil, fmt.Errorf("the session of %s is left: %w", s.Instance, s.Err)
	}
	os.Exit(0)
	return nil, nil
}
