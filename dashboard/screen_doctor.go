package dashboard

import (
	"context"
	"net/url"

	"github.com/rolemanager/rolemanager/internal/findings"
)

// doctorData is the screen of the findings.
type doctorData struct {
	Bucket   string         `json:"bucket"`
	Status   findings.Level `json:"status"`
	Findings findings.List  `json:"findings"`
}

func doctorScreen(_ context.Context, _ *Handler, p *picture, _ url.Values) (any, error) {
	return &doctorData{Bucket: p.bucket, Status: p.found.Worst(), Findings: p.found}, nil
}
