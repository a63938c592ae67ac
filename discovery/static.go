package discovery

import "context"

// Static is a list that never changes.
type Static []Server

// Next implements [Servers].
func (s Static) Next(ctx context.Context, last []Server) ([]Server, error) {
	list, err := Normal(s)
	if err != nil {
		return nil, &LookupError{"the static list", err}
	}
	if !Same(list, last) {
		return list, nil
	}
	<-ctx.Done()
	return nil, ctx.Err()
}
