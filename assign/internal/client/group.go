package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/groups"
)

// Group is what the stream says about a group. Tally is what became of its members, as it was
// recorded last, at Recorded: a moment ago at most, and completely once Ended.
type Group struct {
	Completion Status
	Size       int
	Tally      *groups.Tally
	Recorded   time.Time // zero: not yet
}

// MaxFailed is how many of the members that have not succeeded are told by their ids.
const MaxFailed = 1000

// Failed are the ids of the first members that have not succeeded.
func (g *Group) Failed() (ids []string) {
	for _, i := range g.Tally.Failed(MaxFailed) {
		ids = append(ids, groups.MemberID(g.Completion.ID, i))
	}
	return ids
}

// Group reads about the group that a task completes.
func (c *Client) Group(ctx context.Context, completion string) (Group, error) {
	g, err := c.group(ctx, completion)
	return g, taskerr.Doing(c.offline(err), "group of %s", completion)
}

func (c *Client) group(ctx context.Context, completion string) (g Group, err error) {
	l, err := c.openedAtLast(ctx)
	if err != nil {
		return g, err
	}
	return c.groupOf(ctx, l, completion)
}

func (c *Client) groupOf(ctx context.Context, l *line, completion string) (g Group, err error) {
	o, e, err := c.read(ctx, l, completion)
	if err != nil {
		return g, err
	}
	if o != nil {
		g.Completion = endedStatus(completion, o, &e.Entry)
	} else if g.Completion, err = openStatus(completion, &e.Entry); err != nil {
		return g, err
	}
	if a, err := record.ParseAfter(record.First(e.Header[record.HeaderAfter])); err == nil { // but of most outcomes
		g.Size = a.Group
	}
	p, err := record.ParsePolicy(record.First(e.Header[record.HeaderTask]))
	waits := o == nil && err == nil && p.Version == record.PolicyAfter // else it has ended, or was requeued
	// A record that is read after the completion is not older than that one.
	r, err := c.look(ctx, l, record.TallyKey+completion)
	if err != nil {
		return g, err
	}
	if r.Revision > 0 && !r.Marker {
		t, err := record.DecodeTally(r.Value)
		if err != nil {
			return g, err
		}
		if waits && t.Of == e.Revision || !waits && t.Of < e.Revision {
			g.Size, g.Recorded, g.Tally = t.Size, r.Time, groups.NewTally(t.Size)
			g.Tally.Merge(t.Closed, t.Fates)
		}
	}
	if g.Tally == nil {
		g.Tally = groups.NewTally(g.Size)
	}
	return g, nil
}

// BeginGroup submits the completion of a group. It returns the revision behind which the members
// come, 0 if all of them were submitted before.
func (c *Client) BeginGroup(ctx context.Context, s *Submission, data []byte) (h Handle, after uint64, err error) {
	size := s.After.Group
	l, err := c.openedAtLast(ctx)
	if err != nil {
		return h, 0, err
	}
	if most := l.most.Load(); s.Fault == nil && record.TallySize(size) > most-record.Headroom/2 {
		s.Refuse("a group of %d tasks: use %d at most, or raise max_payload of the server, which is %d", size,
			max(0, (most-record.Headroom/2-256)*3/2), most)
	}
	if s.Fault == nil {
		if err := c.vacant(ctx, l, s.ID); err != nil {
			return h, 0, err
		}
	}
	if h, err = c.Submit(ctx, s, data); err != nil {
		return h, 0, err
	}
	if h.existing {
		g, err := c.Group(ctx, s.ID)
		switch {
		case err != nil:
			return h, 0, err
		case g.Size > 0 && g.Size != size:
			return h, 0, fmt.Errorf("%w: the group exists, and has %d members: give the same inputs, or another name",
				taskerr.ErrInvalidOption, g.Size)
		case terminal(g.Completion.State) || g.Tally.Closed():
			return h, 0, nil
		}
	}
	var e natskv.Entry
	for pace := newPace(); ; {
		if e, err = c.look(ctx, l, record.QueueKey+s.ID); err == nil && e.Revision > 0 {
			return h, e.Revision, nil
		}
		if ended := c.pause(ctx, pace); ended != nil {
			return h, 0, taskerr.Doing(c.offline(errors.Join(ended, err)), "submit %s", s.ID)
		}
	}
}

// looked is how many members of an earlier group are looked for of those that have not succeeded.
const looked = 32

// vacant reports whether a group may have a name, before anything of it is stored: of an earlier
// group that had it, whose completion has left, members may be kept still. Not all of them are
// looked for; JoinGroup finds the others.
func (c *Client) vacant(ctx context.Context, l *line, completion string) error {
	e, err := c.look(ctx, l, record.TallyKey+completion)
	if err != nil || e.Revision == 0 || e.Marker {
		return taskerr.Doing(c.offline(err), "submit %s", completion)
	}
	t, err := record.DecodeTally(e.Value)
	if err != nil {
		return nil // of a later version
	}
	place, err := c.look(ctx, l, record.QueueKey+completion)
	if err != nil || place.Revision > 0 && !place.Marker { // the group exists
		return taskerr.Doing(c.offline(err), "submit %s", completion)
	}
	tally := groups.NewTally(t.Size)
	tally.Merge(t.Closed, t.Fates)
	members := tally.Failed(looked)
	for i := range t.Size {
		if f := tally.Fate(i); f == groups.Done || f == groups.Open {
			members = append(members, i)
			if len(members) >= 2*looked {
				break
			}
		}
	}
	for _, i := range members {
		id := groups.MemberID(completion, i)
		e, err := c.look(ctx, l, record.QueueKey+id)
		if err != nil {
			return taskerr.Doing(c.offline(err), "submit %s", completion)
		}
		if e.Revision > 0 && !e.Marker {
			return keptInGroup(id, &e)
		}
	}
	return nil
}

// JoinGroup submits a member behind a revision. A record that was there before is of another group.
func (c *Client) JoinGroup(ctx context.Context, s *Submission, data []byte, after uint64) error {
	h, err := c.Submit(ctx, s, data)
	if err != nil || !h.existing {
		return err
	}
	l, err := c.openedAtLast(ctx)
	if err != nil {
		return err
	}
	e, err := c.look(ctx, l, record.QueueKey+s.ID)
	if err != nil {
		return taskerr.Doing(c.offline(err), "submit %s", s.ID)
	}
	if of := record.SubmissionOf(e.Header); e.Revision > 0 && e.Revision < after || of > 0 && of < after {
		return keptInGroup(s.ID, &e)
	}
	return nil
}

// keptInGroup says which task of an earlier group is in the way, until when, and what helps. It
// does not advise to delete that task: the completion is there, and would count it as lost.
func keptInGroup(id string, e *natskv.Entry) error {
	until := "is open"
	if at := e.KeptUntil(); len(e.Header[record.HeaderOutcome]) > 0 && !at.IsZero() {
		until = "is kept until " + at.UTC().Format(time.RFC3339)
	}
	return fmt.Errorf("%w: %s of an earlier group of this name %s: use another name", taskerr.ErrGroupKept, id, until)
}
