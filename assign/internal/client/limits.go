package client

import (
	"bytes"
	"context"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

// Limits reads the record of a kind's limits. It is empty where there is none.
func (c *Client) Limits(ctx context.Context, kind string) (record.KindLimits, error) {
	none := record.KindLimits{Version: 1}
	l, err := c.opened(ctx)
	if err != nil {
		return none, err
	}
	e, err := c.look(ctx, l, record.LimitsKey+kind)
	if err != nil {
		return none, taskerr.Doing(c.offline(err), "limits of %s", kind)
	}
	k, err := kindLimits(e)
	return k, taskerr.Doing(err, "limits of %s", kind)
}

func kindLimits(e natskv.Entry) (record.KindLimits, error) {
	if e.Revision == 0 || e.Marker || len(e.Value) == 0 {
		return record.KindLimits{Version: 1}, nil
	}
	return record.DecodeKindLimits(e.Value)
}

// Declare stores what a program says about a kind, unless the record has a higher version. Errors:
// taskerr.ErrLimitsDiffer if it says something else under the same version: then it stays.
func (c *Client) Declare(ctx context.Context, p *record.Policy) error {
	own, err := p.Declare(c.nc.Opts.Name)
	if err != nil {
		return err
	}
	return c.limit(ctx, "declare", p.Kind, func(k *record.KindLimits) (bool, error) { return k.Take(own) })
}

// Override puts limits in the place of what is declared; nil takes them back.
func (c *Client) Override(ctx context.Context, kind string, o *record.Override) error {
	if o != nil {
		o.By = c.nc.Opts.Name
	}
	return c.limit(ctx, "override", kind, func(k *record.KindLimits) (bool, error) {
		k.Override = o
		return true, nil
	})
}

// limit changes the record of a kind's limits. One that does not change stays as it was written,
// also by a later version.
func (c *Client) limit(
	ctx context.Context, doing, kind string, change func(k *record.KindLimits) (bool, error),
) error {
	l, err := c.openedAtLast(ctx)
	if err != nil {
		return err
	}
	err = c.replace(ctx, l, record.LimitsKey+kind, func(e natskv.Entry) (*natskv.Write, error) {
		k, err := kindLimits(e)
		if err != nil { // of a later version: it stays
			return nil, err
		}
		if changed, err := change(&k); err != nil || !changed {
			return nil, err
		}
		if k.Declared == nil && k.Override == nil {
			if len(e.Value) == 0 {
				return nil, nil
			}
			return &natskv.Write{TTL: removedFor}, nil
		}
		value, err := k.Encode()
		if err != nil || bytes.Equal(value, e.Value) {
			return nil, err
		}
		return &natskv.Write{Value: value}, nil
	})
	return taskerr.Doing(c.offline(err), "%s the limits of %s", doing, kind)
}
