package doctor

import (
	"context"
	"errors"
	"fmt"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/internal/findings"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// scheduling checks that a scheduler hands out the tasks of a namespace, and that workers take
// them.
func (x *examination) scheduling(ctx context.Context, namespace string, records uint64) string {
	c, err := assign.NewClient(x.a.Conn, assign.ClientConfig{Namespace: namespace})
	if err != nil {
		return "not checked: its name is not a valid namespace"
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, x.a.Target.Timeout)
	defer cancel()
	o, err := inventory.Overview(ctx, x.a.Conn, c, namespace)
	switch {
	case err == nil:
		return x.Overview(namespace, &o, inventory.SealOf(ctx, x.a.Conn, x.a.Reach(), namespace))
	case errors.Is(err, cli.ErrDenied):
		x.unchecked("tasks", "%s: not checked: %s", namespace, wording.Plain(err))
		return ""
	case errors.Is(err, assign.ErrNoScheduler):
		return x.unscheduled(ctx, namespace, records)
	case errors.Is(err, context.DeadlineExceeded):
		x.Add(findings.Unknown, "tasks", "try again", "%s: no answer: %s", namespace, wording.Plain(err))
	default:
		x.Add(findings.Critical, "tasks",
			"compare the stream with what rolectl tasks create "+namespace+" --dry-run prints", "%s: %s",
			namespace, wording.OneLine(wording.Plain(err)))
	}
	return ""
}

// dead counts the dead tasks of a namespace.
func (x *examination) dead(ctx context.Context, namespace string) {
	c, err := assign.NewClient(x.a.Conn, assign.ClientConfig{
		Namespace: namespace, Domain: x.a.Target.Domain, APIPrefix: x.a.Target.APIPrefix,
	})
	if err != nil { // scheduling has said so
		return
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, x.a.Target.Timeout)
	defer cancel()
	d, err := findings.CountDead(ctx, c)
	if err != nil {
		x.Add(findings.Unknown, "tasks",
			"give this user what an observer that runs doctor has (docs/reference/permissions.md)",
			"%s: dead tasks were not counted: %s", namespace, wording.Plain(err))
		return
	}
	x.Dead(namespace, d)
}

// unscheduled reports what is known while no scheduler answers.
func (x *examination) unscheduled(ctx context.Context, namespace string, records uint64) string {
	last := inventory.SealOf(ctx, x.a.Conn, x.a.Reach(), namespace)
	switch {
	case last.Epoch == 0 && records == 0:
		return "no tasks, and no scheduler yet"
	case last.Epoch == 0:
		x.Unscheduled(namespace, wording.Count(records, "record")+", and no scheduler yet", "")
		return ""
	}
	docs, _ := x.s.DescribeRoles() // without names there is no error
	for _, d := range docs {
		if d.Leader != "" && d.Epoch == last.Epoch {
			x.Mute(namespace, &d.RoleFacts)
			return ""
		}
	}
	x.Unscheduled(namespace,
		fmt.Sprintf("there is no scheduler; the last one was %s at epoch %d", last.Holder, last.Epoch), ledBy(docs, last))
	return ""
}

// ledBy is the role that a scheduler led: the one of its epoch or, if it gave roles up since, the
// only one. "" if that cannot be told.
func ledBy(docs []inventory.RoleState, last findings.Seal) string {
	var left []string
	for _, d := range docs {
		switch {
		case d.Epoch == last.Epoch:
			return d.Role
		case d.Vacant && d.By == last.Holder:
			left = append(left, d.Role)
		}
	}
	if len(left) == 1 {
		return left[0]
	}
	return ""
}
