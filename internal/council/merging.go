package council

import (
	"cmp"
	"context"
	"errors"

	"sibyl/internal/bt"
	"sibyl/internal/council/session"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/service/assistant"
)

// mergingSpec makes the spec of a sitting over the answers of an earlier one. Its oracles have their runs from there:
// those that have answered are heard, and not asked again.
func (d Deps) mergingSpec(b assistant.Request) specMaker {
	return func(ctx context.Context, _ *session.Store, o Options, s session.Session) (run.Spec, error) {
		var env Env
		var given Given
		row, err := d.Store.Run(ctx, b.Owner, o.Merge)
		if err == nil {
			err = run.ReadStart(ctx, d.Store, b.Owner, o.Merge, &env, &given)
		}
		if err != nil && !errors.Is(err, journal.ErrNotFound) {
			return run.Spec{}, err
		}
		if err != nil || given.Kind != KindSitting || given.Session != s.ID || row.Status == journal.Running {
			return run.Spec{}, refuse(bt.Because("there is no such sitting that has ended"), "ask the oracles anew", nil)
		}
		var begun []Seat // a sitting that was stopped early has asked only some
		for _, seat := range given.Oracles {
			_, err := d.Store.Run(ctx, b.Owner, run.IDOf(given.Sitting, seat.ID))
			switch {
			case err == nil:
				begun = append(begun, seat)
			case !errors.Is(err, journal.ErrNotFound):
				return run.Spec{}, err
			}
		}
		if given.Oracles = begun; len(begun) == 0 {
			return run.Spec{}, refuse(bt.Because("no oracle of that sitting was asked"), "ask the oracles anew", nil)
		}
		chair, err := d.findOracle(ctx, cmp.Or(o.Chair, given.Chair.ID), env.Language)
		if err != nil {
			return run.Spec{}, refuse(unknownOracle.With(), "‘sibyl council oracles’ lists them", err)
		}
		env.Asked = b.KeepModel("model", &o.Model, false, env.Asked)
		if env.Model, err = d.chooseModel(ctx, o); err != nil {
			return run.Spec{}, err
		}
		if env.Model == "" {
			return run.Spec{}, refuse(needModel.With(), "‘sibyl init’ sets one up", nil)
		}
		given.Chaired, given.Chair, env.Merges = true, seatOf(chair), o.Merge
		spec := run.Spec{Title: row.Title, Given: given, Env: env}
		names := []string{textEntries, textContext}
		for _, seat := range given.Oracles {
			names = append(names, textOracle+"."+seat.ID)
		}
		for _, name := range names {
			content, err := run.ReadText(ctx, d.Store, b.Owner, o.Merge, name)
			if err != nil {
				return spec, err
			}
			spec.Texts = append(spec.Texts, run.Text{Name: name, Content: content})
		}
		spec.Texts, err = d.addChairTexts(spec.Texts)
		return spec, err
	}
}
