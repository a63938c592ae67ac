package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/naming"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/groups"
)

// GroupPage is one page of groups. Next is "" on the last page.
type GroupPage struct {
	Groups []Group
	Next   string
}

// Groups is one page of the groups whose names begin with a prefix, the one that was counted last
// first. It reads the headers of all records of groups, and keeps those of one page.
func (c *Client) Groups(ctx context.Context, prefix string, limit int, cursor string) (GroupPage, error) {
	before, err := parseGroupCursor(cursor)
	if err != nil {
		return GroupPage{}, err
	}
	l, err := c.opened(ctx)
	if err != nil {
		return GroupPage{}, err
	}
	page, err := c.groupsBefore(ctx, l, prefix, limit, before)
	return page, taskerr.Doing(c.offline(err), "list groups")
}

func (c *Client) groupsBefore(ctx context.Context, l *line, prefix string, limit int, before uint64,
) (page GroupPage, err error) {
	var newest []natskv.Entry // in the order of their revisions, never many more than a page
	begin := record.TallyKey + groups.Prefix + prefix
	for from, more := uint64(0), true; more; {
		var entries []natskv.Entry
		entries, more, err = l.stream.Scan(ctx, c.nc, natskv.Scan{
			Filter: record.TallyKey + ">", From: from, Limit: scannedAtOnce, HeadersOnly: true,
		})
		if err != nil {
			return page, err
		}
		for _, e := range entries {
			from = e.Revision + 1
			if before > 0 && e.Revision >= before {
				more = false
				break
			}
			if e.Marker || !strings.HasPrefix(e.Key, begin) || !naming.Valid(strings.TrimPrefix(e.Key, record.TallyKey)) {
				continue // another program may write under any key
			}
			if newest = append(newest, e); len(newest) > 4*limit {
				newest = slices.Delete(newest, 0, len(newest)-limit-1)
			}
		}
	}
	if more := len(newest) - limit; more > 0 {
		newest = newest[more:]
		page.Next = strconv.FormatUint(newest[0].Revision, 10)
	}
	slices.Reverse(newest)
	return page, c.readGroups(ctx, l, newest, &page)
}

// readGroups reads the groups of some records. The record outlives its group: what is gone is left
// out, and so is what cannot be read. Group says what is wrong with that.
func (c *Client) readGroups(ctx context.Context, l *line, entries []natskv.Entry, page *GroupPage) error {
	found := make([]*Group, len(entries))
	reads, ctx := errgroup.WithContext(ctx)
	reads.SetLimit(lookedUpAtOnce)
	for i := range entries {
		reads.Go(func() error {
			g, err := c.groupOf(ctx, l, strings.TrimPrefix(entries[i].Key, record.TallyKey))
			if errors.Is(err, taskerr.ErrTaskNotFound) || errors.Is(err, record.ErrRecord) {
				return nil
			}
			found[i] = &g
			return err
		})
	}
	if err := reads.Wait(); err != nil {
		return err
	}
	for _, g := range found {
		if g != nil {
			page.Groups = append(page.Groups, *g)
		}
	}
	return nil
}

// CheckGroupCursor refuses a cursor that no page of groups has returned.
func CheckGroupCursor(text string) error {
	_, err := parseGroupCursor(text)
	return err
}

func parseGroupCursor(text string) (before uint64, err error) {
	if text == "" {
		return 0, nil
	}
	if before, err = strconv.ParseUint(text, 10, 64); err != nil || before == 0 {
		return 0, fmt.Errorf("%w: %.100q", taskerr.ErrInvalidCursor, text)
	}
	return before, nil
}
