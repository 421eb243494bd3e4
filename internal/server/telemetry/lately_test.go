package telemetry_test

import (
	"testing"
	"testing/synctest"
	"time"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/run"
	"sibyl/internal/server/telemetry"
)

func TestTheLastHourIsToldByMinutesAndNothingBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tel, err := telemetry.New(telemetry.Config{})
		if err != nil {
			t.Fatal(err)
		}
		effect := func(took time.Duration, fault string) {
			_, done := tel.Observer().Perform(t.Context(), run.Performed{Kind: "read"})
			done(run.Effected{Took: took, Fault: fault})
		}
		effect(time.Second, "")
		time.Sleep(61 * time.Minute)
		effect(time.Second, "")
		effect(3*time.Second, "gone")
		time.Sleep(time.Minute)
		m := tel.Model(modeltest.Script(t, modeltest.Say("one two"), modeltest.Fail(model.Auth)))
		for range 2 {
			_, _ = m.Chat(t.Context(), model.Request{}, nil)
		}
		all := tel.Lately()
		if len(all) != 60 || !all[59].At.Equal(time.Now().UTC().Truncate(time.Minute)) ||
			!all[0].At.Equal(all[59].At.Add(-59*time.Minute)) {
			t.Fatalf("%d minutes, from %s to %s", len(all), all[0].At, all[len(all)-1].At)
		}
		if m := all[58]; m.Effects != 2 || m.Failed != 1 || m.EffectMS != 2000 || m.SlowestEffect != 3000 {
			t.Errorf("the last minute but one is %+v", m)
		}
		if m := all[59]; m.Requests != 2 || m.Unanswered != 1 || m.Effects != 0 {
			t.Errorf("the last minute is %+v", m)
		}
		for _, m := range all[:58] {
			if m != (telemetry.Minute{At: m.At}) {
				t.Errorf("before them there is %+v", m)
			}
		}
	})
}
