package tasks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/assign/keyring"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
)

// scope is what the commands about tasks share: the app and the namespace.
type scope struct {
	*cli.App
	namespace string
	keys      string // the file of keys, "" for none
}

// Command is the command "rolectl tasks".
func Command(a *cli.App) *cobra.Command {
	t := &scope{App: a}
	cmd := cli.Group("tasks", "See, submit and steer the tasks of a namespace")
	cmd.Aliases = []string{"task"}
	cmd.Long = `See, submit and steer the tasks of a namespace.

Submitting, cancelling, pausing and draining need no scheduler: the request is stored, and takes effect when a scheduler
leads. The scheduler lists open tasks; tasks that have ended are read from the stream.`
	cmd.PersistentFlags().StringVarP(&t.namespace, "namespace", "n", a.EnvOr("TASKS_NAMESPACE", ""),
		"namespace of the tasks (TASKS_NAMESPACE)")
	cmd.AddCommand(
		createCommand(t), idCommand(t), listCommand(t), getCommand(t), submitCommand(t), cancelCommand(t), requeueCommand(t),
		deleteCommand(t),
		drainCommand(t), undrainCommand(t), pauseCommand(t), resumeCommand(t), limitsCommand(t),
		overviewCommand(t), namespacesCommand(t), cronCommand(t), groupCommand(t), watchCommand(t),
	)
	cli.CompleteFlagBy(cmd, "namespace", t.completeNamespaces)
	return cmd
}

// keyFlag adds the flag for the keys of sealed inputs and outputs.
func (t *scope) keyFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&t.keys, "key-file", "",
		"file of keys, each on a line: its id, a space, and its secret in base64; the first one seals")
	_ = cmd.MarkFlagFilename("key-file") // the flag is there
}

// withClient runs a function with a client, within a time (0: --timeout; negative: no limit).
func (t *scope) withClient(cmd *cobra.Command, within time.Duration,
	run func(ctx context.Context, c *assign.Client) error,
) error {
	if t.namespace == "" {
		return cli.ErrNoNamespace
	}
	nc, err := t.Connect()
	if err != nil {
		return err
	}
	cfg := assign.ClientConfig{Namespace: t.namespace, Domain: t.Target.Domain, APIPrefix: t.Target.APIPrefix}
	if t.keys != "" {
		ring, err := keyring.ReadFile(t.keys)
		if err != nil {
			return cli.UsageError(fmt.Errorf("--key-file: %w", err))
		}
		cfg.Codec, cfg.AcceptPlain = ring, true
	}
	c, err := assign.NewClient(nc, cfg)
	if err != nil {
		return cli.UsageError(err)
	}
	defer c.Close()
	ctx := cmd.Context()
	if within == 0 {
		within = t.Target.Timeout
	}
	if within > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, within)
		defer cancel()
	}
	if err = run(ctx, c); errors.Is(err, assign.ErrStreamNotFound) {
		return t.missing(ctx, nc, err)
	}
	if ctl := inventory.QuestionDenied(nc, t.namespace); errors.Is(err, assign.ErrNoScheduler) && ctl != "" {
		return cli.ExitWith(cli.ExitConnection,
			fmt.Errorf("%w: this user may not publish to %s, the subject of questions to the scheduler", cli.ErrDenied, ctl))
	}
	if errors.Is(err, assign.ErrNoScheduler) && !strings.Contains(err.Error(), assign.ErrNoScheduler.Error()+": ") {
		if why := t.muteScheduler(cmd.Context()); why != "" { // without an answer: one that refuses says so
			_, advice, _ := strings.Cut(assign.ErrNoScheduler.Error(), "answers: ")
			err = &reworded{strings.Replace(err.Error(), advice, why, 1), err}
		}
	}
	return exitFor(err)
}

// lookForMute is how long to look for the leader that should have answered: it is not what the user
// has asked for.
const lookForMute = 2 * time.Second

// muteScheduler says who leads the role of the namespace and does not answer, "" for nobody. Its
// role is looked for in the bucket that is set.
func (t *scope) muteScheduler(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, min(lookForMute, t.Target.Timeout))
	defer cancel()
	role, ok := inventory.MuteScheduler(ctx, t.App, t.namespace)
	if !ok {
		return ""
	}
	return role.Muteness()
}

// missing is the error of a namespace without a stream.
func (t *scope) missing(ctx context.Context, nc *nats.Conn, err error) error {
	return &reworded{fmt.Sprintf(
		"namespace %s does not exist %s (no stream %s%[1]s): create it with \"rolectl tasks create %[1]s%[4]s\"%[5]s",
		t.namespace, t.place(), inventory.TaskStreamPrefix, t.Reach().Flags(), t.elsewhere(ctx, nc)), err}
}

// place says where namespaces are looked for.
func (t *scope) place() string {
	if domain := t.Reach().Domain(); domain != "" {
		return "in JetStream domain " + domain
	}
	return "on this server"
}

// elsewhere says how to look in another JetStream domain, if one answers and none was named.
func (t *scope) elsewhere(ctx context.Context, nc *nats.Conn) string {
	if !t.Reach().IsZero() {
		return ""
	}
	domain, err := t.Reach().AnsweringDomain(ctx, nc)
	if err != nil || domain == "" {
		return ""
	}
	return fmt.Sprintf(", or name the domain that has it with --js-domain; domain %s has answered", domain)
}

// exitFor gives errors of package assign their exit codes.
func exitFor(err error) error {
	switch {
	case errors.Is(err, assign.ErrNoScheduler), errors.Is(err, assign.ErrCancelPending):
		return cli.ExitWith(cli.ExitNoLeader, err)
	case errors.Is(err, assign.ErrInvalidID), errors.Is(err, assign.ErrInvalidKind), errors.Is(err, assign.ErrInvalidName),
		errors.Is(err, assign.ErrInvalidOption), errors.Is(err, assign.ErrInvalidSpec):
		return cli.UsageError(err)
	}
	return err
}

// toneOf returns the colour of a state.
func toneOf(s assign.State) show.Tone {
	switch s {
	case assign.StateDead:
		return show.Bad
	case assign.StateExpired, assign.StateCancelled, assign.StateSkipped, assign.StateRetrying:
		return show.Warning
	}
	return show.Plain
}

// reworded is an error with a text that says what to do with this program.
type reworded struct {
	text  string
	cause error
}

func (r *reworded) Error() string { return r.text }

func (r *reworded) Unwrap() error { return r.cause }
