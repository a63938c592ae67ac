package assign

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/client"
	"github.com/rolemanager/rolemanager/assign/internal/control"
	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/groups"
)

// SubmitGroup submits one task of k for each input, and one task of then, the completion, which
// runs once all of them have ended, however they have. A group has 1 to 100,000 members. The
// options are those of the members; the completion is treated as its kind says. Its input names the
// group: [GroupRef.Status] says how the members have ended.
//
// The call is not atomic, and continues where an earlier one of the same name was interrupted: give
// the same inputs. A group of which members are missing 24 hours after its submission ends as
// [StateCancelled], with the cause unclosed. Outcomes of members and of the completion are kept for
// 24 hours at least. For that time the name belongs to this group, and for as long as one of its
// members is kept.
//
// A member that is requeued after it has ended counts as it has ended first. To cancel the
// completion does not cancel the members: use [CancelAll] with the prefix "group/<name>/".
//
// Errors: those of [SubmitBatch]; ErrGroupKept if a task of an earlier group of the name is kept;
// ErrInvalidOption also for a group that exists with another number of members.
func SubmitGroup[In, Out, Done any](ctx context.Context, to Submitter, name string, k Kind[In, Out], inputs []In,
	then Kind[GroupRef, Done], opts ...SubmitOption,
) (*Group[Done], error) {
	common := k.submission()
	common.apply(opts)
	kept := common.KeepInGroup()
	completion := then.submission()
	completion.Complete(name, len(inputs), kept)
	fairly(&completion, GroupRef{Group: name})
	data, err := encode(GroupRef{Group: name})
	if err != nil {
		return nil, taskerr.Doing(err, "submit %s", then.name)
	}
	c, err := clientOf(ctx, to)
	if err != nil {
		return nil, err
	}
	if err := common.Fault; err != nil { // before anything is stored
		return nil, err
	}
	h, after, err := c.BeginGroup(ctx, &completion.Submission, data)
	if err != nil {
		return nil, err
	}
	group := &Group[Done]{Pending[Done]{to, h}, name}
	if after == 0 {
		return group, nil
	}
	err = windowed(c, len(inputs), func(i int) error {
		s := common.of(i)
		if s.ID != "" || s.Unique != "" {
			s.Refuse("WithID and WithUnique: a task of a group has an id of its own: leave them out")
		}
		s.KeepInGroup()
		s.Join(completion.ID, i)
		fairly(&s, inputs[i])
		data, err := encode(inputs[i])
		if err != nil {
			return taskerr.Doing(err, "submit %s", k.name)
		}
		return c.JoinGroup(ctx, &s.Submission, data, after)
	})
	if err != nil {
		return nil, err
	}
	return group, nil
}

// Group is a group that was submitted. Wait, Cancel and the other methods of [Pending] are about
// its completion. It is safe for concurrent use and holds nothing that must be given back.
type Group[Done any] struct {
	Pending[Done]
	name string
}

// FindGroup returns the group of a name, no matter which client submitted it. Errors: ErrInvalidID.
func FindGroup[Done any](in Submitter, name string, then Kind[GroupRef, Done]) (*Group[Done], error) {
	id, err := record.GroupID(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalidID, err)
	}
	return &Group[Done]{Pending[Done]{in, client.Find(id, then.name)}, name}, nil
}

// Name is the name of the group.
func (g *Group[Done]) Name() string { return g.name }

// Members says how many members have ended, and how. See [GroupRef.Status].
func (g *Group[Done]) Members(ctx context.Context) (GroupStatus, error) {
	return GroupRef{Group: g.name}.Status(ctx, g.from)
}

// GroupRef names a group. It is the input of a completion.
type GroupRef struct {
	Group string `json:"group"`
}

// MemberID is the id of a member, counted from 0 in the order of the inputs.
func (r GroupRef) MemberID(i int) string { return groups.MemberID(groups.Prefix+r.Group, i) }

// GroupStatus says how the members of a group have ended.
type GroupStatus struct {
	Name string `json:"name"`
	// Completion is the task that runs after the members. Get says more about it.
	Completion TaskStatus `json:"completion"`
	Size       int        `json:"size"`
	// Missing members were not submitted so far, Open ones have not ended.
	Missing   int `json:"missing"`
	Open      int `json:"open"`
	Succeeded int `json:"succeeded"`
	Dead      int `json:"dead"`
	Cancelled int `json:"cancelled"`
	Expired   int `json:"expired"`
	Skipped   int `json:"skipped"`
	// Lost members have ended while nobody led for a day, or were deleted: how is not known.
	Lost int `json:"lost"`
	// Failed are the ids of the first 1,000 members that have ended other than by success.
	Failed []string `json:"failed,omitempty"`
	// Recorded is when the scheduler has counted last, zero if it has not so far.
	Recorded time.Time `json:"recorded,omitzero"`
}

// Status says how many members have ended, and how. The scheduler counts again every 10 s as long
// as members end, and a last time before the completion runs: then the numbers are final. They can
// be read for as long as the outcome of the completion is kept. It needs no scheduler.
//
// Errors: ErrTaskNotFound, ErrInvalidID, ErrNoClient, ErrClosed, the connection's, ctx's.
func (r GroupRef) Status(ctx context.Context, in Submitter) (GroupStatus, error) {
	id, err := record.GroupID(r.Group)
	if err != nil {
		return GroupStatus{}, fmt.Errorf("%w: %w", ErrInvalidID, err)
	}
	c, err := clientOf(ctx, in)
	if err != nil {
		return GroupStatus{}, err
	}
	g, err := c.Group(ctx, id)
	if err != nil {
		return GroupStatus{}, err
	}
	s := groupStatusFrom(&g)
	s.Failed = g.Failed()
	return s, nil
}

// groupStatusFrom is what is known of a group, for users, without the ids of members.
func groupStatusFrom(g *client.Group) GroupStatus {
	return GroupStatus{
		Name:       strings.TrimPrefix(g.Completion.ID, groups.Prefix),
		Completion: statusFrom(&g.Completion), Size: g.Size, Recorded: g.Recorded,
		Missing: g.Tally.Count(groups.Unseen), Open: g.Tally.Count(groups.Open), Succeeded: g.Tally.Count(groups.Done),
		Dead: g.Tally.Count(groups.Dead), Cancelled: g.Tally.Count(groups.Cancelled), Expired: g.Tally.Count(groups.Expired),
		Skipped: g.Tally.Count(groups.Skipped), Lost: g.Tally.Count(groups.Lost),
	}
}

// GroupListOptions say which groups to list.
type GroupListOptions struct {
	// Prefix begins the names.
	Prefix string
	// Limit is how many groups a page holds at most. Default 100, maximum 500.
	Limit int
	// Cursor is "" for the first page, then the Next of the page before.
	Cursor string
}

// GroupPage is one page of groups. It may hold fewer than Limit, even none, though Next is not "".
type GroupPage struct {
	Groups []GroupStatus `json:"groups"`
	Next   string        `json:"next,omitempty"` // "" for the last page
}

// ListGroups lists the groups that are kept, page by page. The group whose members were counted
// last comes first, so open groups do. A group appears with its first count, 10 s after its
// submission at most, and leaves with the outcome of its completion. Failed is left out: see
// [GroupRef.Status]. A group that is counted again while its pages are being listed may be left
// out. It needs no scheduler.
//
// Errors: ErrInvalidCursor, ErrInvalidOption, ErrNoClient, ErrClosed, the connection's, ctx's.
func ListGroups(ctx context.Context, in Submitter, o GroupListOptions) (GroupPage, error) {
	if o.Limit == 0 {
		o.Limit = defaultPage
	}
	if o.Limit < 1 || o.Limit > control.MaxPage {
		return GroupPage{}, fmt.Errorf("%w: Limit %d: use 1 to %d", ErrInvalidOption, o.Limit, control.MaxPage)
	}
	if err := client.CheckGroupCursor(o.Cursor); err != nil {
		return GroupPage{}, err
	}
	c, err := clientOf(ctx, in)
	if err != nil {
		return GroupPage{}, err
	}
	page, err := c.Groups(ctx, o.Prefix, o.Limit, o.Cursor)
	if err != nil {
		return GroupPage{}, err
	}
	list := GroupPage{Groups: make([]GroupStatus, 0, len(page.Groups)), Next: page.Next}
	for i := range page.Groups {
		list.Groups = append(list.Groups, groupStatusFrom(&page.Groups[i]))
	}
	return list, nil
}
