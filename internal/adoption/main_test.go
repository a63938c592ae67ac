package adoption_test

import (
	"testing"

	"github.com/rolemanager/rolemanager/internal/natstest"
)

func TestMain(m *testing.M) { natstest.Halves(m) }
