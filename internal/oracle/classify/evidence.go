package classify

import "strings"

// Column of each type in weights.
const (
	code = iota
	docs
	web
	chat
	write
	columns
)

// weights say how much a feature speaks for (or against) each type. 1 is a hint, 2 decides if nothing contradicts,
// 4 overrules hints to the contrary.
type weights [columns]float64

// lexical is a feature that words of the text show by themselves.
type lexical struct {
	name   string
	weight weights
	words  string // separated by space; _ joins a phrase, * ends a stem
}

// vocabulary holds the lexical features. A word may show several. Words of products and softwareNouns are features too; they stand in
// lexicon.go because the shape of sentences refers to them.
var vocabulary = []lexical{
	{"software-part", weights{code: 0.8}, ""}, // softwareNouns
	{"product", weights{web: 1.6}, ""},        // products without notEvidence
	{"place", weights{web: 2.2}, `
		paris london berlin rome madrid lisbon tokyo oslo vienna hamburg munich munchen koln cologne amsterdam brussels dublin
		zurich geneva prague warsaw moscow beijing shanghai sydney melbourne toronto boston chicago seattle dallas denver houston
		miami york francisco angeles vegas lagos cairo nairobi delhi mumbai dubai istanbul seoul singapore lisboa porto rio germany
		france spain italy portugal brazil china india japan russia ukraine england uk britain ireland scotland poland sweden norway
		denmark finland netherlands belgium austria switzerland turkey egypt nigeria kenya mexico canada australia argentina chile
		europe asia africa america usa planet earth`},
	{"daily-life", weights{web: 3}, `
		weather forecast rain raining snow sunny temperature_in humidity election elections president minister senator parliament
		government population capital_of gdp inflation recession economy stock stocks stock_price shares bitcoin ethereum crypto
		currency exchange_rate flight flights hotel hotels restaurant restaurants recipe recipes cook airport train_from
		ticket_price football soccer bundesliga league basketball nba nfl olympics world_cup championship movie movies film actor
		singer song album novel novels celebrity war revolution century holiday vacation museum opening_hours symptom symptoms flu
		vaccine medicine disease calories wage salary tax taxes mortgage ceo founder headquarters invented inventor mountain river
		ocean photosynthesis planet moon galaxy quantum physics_of synonym synonyms antonym etymology capital kilometres kilometers
		miles celsius fahrenheit euro euros dollar dollars usd eur philosopher poem lawsuit acquisition ipo layoffs who_won won_the
		winner lottery traffic earthquake volcano dinosaur* sky wwdc diet vitamin vitamins cancer covid doctor hospital visa
		passport embassy university universities school degree bank loan interest_rate insurance car cars bicycle subway sunrise
		sunset mars jupiter gravity speed_of_light chemical atom atoms dna evolution species animal animals dog dogs cat cats bird
		birds king queen emperor roman medieval treaty constitution supreme_court police crime army religion church bible
		language_spoken country countries city cities continent island lake band concert lyrics guitar piano painting painter artist
		director oscar oscars grammy tv episode tournament medal coach marathon coffee wine beer pizza cake bread chicken rice vegan
		birthday christmas easter showtimes near_me how_old distance_from distance_between height_of population_of meaning_of_life
		speed_limit timezone time_zone how_far how_tall trending score_of experts scientists weight_of boiling_point melting_point
		born died death_of married lived climate painted novelist composer concerts festival festivals airplane airplanes plane
		planes train trains mountains rivers oceans muscle muscles brain heart sleep diabetes headache allergy weather_in protein
		exercise workout yoga meditation banana bananas apple_pie fruit vegetables tea wedding gift gifts zodiac horoscope astronomy
		telescope rocket rockets satellite nuclear solar climate_change pollution refugee philosophy psychology sociology
		linguistics grammar shakespeare bach mozart picasso einstein newton darwin napoleon`},
	{"news", weights{web: 2.2}, `
		news headline headlines breaking_news latest newest what_is_new most_recent recent recently just_released release_date
		released_yet been_released these_days right_now nowadays currently up_to_date this_week this_year last_year upcoming
		announce announced announcement today yesterday tomorrow tonight end_of_life eol lts state_of_the_art outage_status is_down
		cve cves advisory advisories vulnerability_in who_is_playing`},
	{"current", weights{web: 1}, "current now_available tomorrow weekend next_week"},
	{"price", weights{web: 2}, `
		price prices pricing_of pricing pricing_per cost costs cheap cheapest cheaper expensive how_much_does how_much_is per_month
		per_seat per_token subscription free_tier license_cost`},
	{"outside", weights{web: 2.2}, `
		internet online web wikipedia stackoverflow stack_overflow hacker_news open_source alternative alternatives competitor
		competitors vendor vendors industry industry_standard market official_docs official_documentation tutorial tutorials article
		articles blog blogs paper papers book books course courses video videos survey benchmarks_of benchmark_numbers best_practice
		best_practices state_of datasheet pinout patent standard_for licence license mit_license gplv3 gpl third_party_library
		popular top_10 top_ten top_5 recommended compatible_with supports_the well_known famous most_used widely_used
		conversion_rate offerings websites website real_world podcast podcasts conference conferences webinar certification
		certifications salary bootcamp freelancer startup_funding venture_capital investors investor investing etf etfs`},
	{"elsewhere", weights{web: 4}, `
		gdpr ccpa hipaa owasp iso rfc ieee eu other_companies other_teams other_people other_projects other_tools other_languages
		other_frameworks other_products other_apps other_games other_developers other_databases people_say competitors app_store
		play_store google_play big_companies large_companies`},
	{"web-search", weights{web: 4}, `
		search_the_web search_the_internet search_online search_web look_online google google_for web_search on_the_internet
		on_the_web from_the_web websearch browse`},
	{"in-general", weights{web: 1.5}, `
		common typical average browsers in_general generally types_of kinds_of ways_to tips tricks causes_of examples_of
		side_effects beginners for_dummies introduction_to resources good_resources cryptography a_good any_good`},
	{"comparison", weights{web: 1.5}, `
		vs versus better_than faster_than pros_and_cons advantages disadvantages compare_to differ_from which_is_better better_for`},
	{"meaning", weights{web: 1.5}, `
		stand_for stands_for acronym definition_of meaning_of meaning_of_the define in_simple_words in_simple_terms concept_of
		theory theorem paradox principle_of algorithm_for invented`},
	{"general-concept", weights{web: 2}, `
		monad monads mutex semaphore idempotency idempotent eventual_consistency cap_theorem garbage_collection polymorphism
		recursion closures closure generics promises hoisting tls ssl handshake http tcp udp dns rebase microservices microservice
		monolith actor_model quantum acid blockchain machine_learning deep_learning neural language_model diffusion_model llm llms
		embeddings rag transformer transformers type_inference hindley ssa register_allocation design_patterns solid_principles
		dependency_injection functional_programming object_oriented agile scrum devops kanban nogil javascript sql window_functions
		virtual_environment reverse_proxy crdt raft paxos vector_databases b_tree bloom_filter zero_trust static_site`},
	{"implementation", weights{code: 2.2}, `
		dry_run exit_status exit_code have_to_touch need_to_touch need_to_change have_to_change implemented implementation implementations implements
		implement_the_interface source_code codebase code_base code_path code_paths in_code in_the_code our_code the_code code_that
		entry_point entrypoint dead_code call_graph call_site call_sites callers caller usages usage_of unit_test unit_tests
		integration_test integration_tests test_case test_coverage stack_trace stacktrace call_stack traceback data_flow
		control_flow code_flow request_flow request_lifecycle default_value default_timeout return_type return_value signature
		env_var env_vars environment_variable environment_variables config_file feature_flag feature_flags race_condition
		memory_leak deadlock null_pointer nil_pointer off_by_one time_complexity build_flags makefile dockerfile package_json go_mod
		source_file global_variable public_methods helper_function which_file what_file which_class which_function which_method
		which_module which_package which_component which_service`},
	{"program-part", weights{code: 1.5}, `
		function* method methods struct structs middleware endpoint endpoints handler handlers subroutine goroutine* regex mutex
		parser lexer shader* interrupt isr firmware opcode* bytecode codebase error_codes error_code source_file dag interface
		interfaces controller callback* module modules package packages algorithm algorithms constructor enum enums namespace
		data_structure data_structures error_message error_messages model_architecture network_architecture script scripts
		constant_folding inlining unit_test variable variables parameter parameters argument arguments subclass* superclass*
		status_code class classes logic calculat* comput* sql queries stacktrace`},
	{"program-verb", weights{code: 1.3}, `
		defined thrown frozen sent read crashing hanging failing returning throwing segfault* overflow* truncat* debug`}, // and the forms of programVerbs
	{"done-to-part", weights{code: 1}, `
		set sent created creates built builds passed passes started starts saved written received receives used uses using applied
		deleted deletes updated updates removed removes inserted inserts gets depend depends drives feeds holds keeps happens
		extends interact interacts communicate communicates talk_to handle bound protected construct constructs what_happens
		what_would_happen`},
	{"malfunction", weights{code: 1.5}, `
		bug bugs error errors exception exceptions panic panics panicked crash crashes stack_overflow null undefined nan segfault
		segmentation_fault oomkilled oom hardfault broken not_working does_not_work is_not_working stopped_working wont_compile
		not_compile failing flaky regression race leak leaks leaking deadlocks timeout times_out timed_out infinite_loop returns_500
		returns_404 latency slow spiked undefined_reference unresolved type_error keyerror typeerror fails going_on`},
	{"debugging", weights{code: 2}, `
		grep debug find_usages find_references find_callers trace_the trace_through step_through stack_frame profile_the`},
	{"decision", weights{docs: 4}, `
		which_team who_owns who_maintains objected opposed in_favour in_favor objection objections voted debate debated brainstorm
		brainstormed decided decision decisions we_decide adr adrs rationale agreed agreement agree_on consensus conclude concluded
		conclusion settled_on settle_on was_agreed we_agreed chose chosen did_we_choose did_we_pick we_picked
		alternatives_considered options_considered were_considered trade_off trade_offs tradeoff tradeoffs reasoning outcome_of
		was_the_outcome signed_off sign_off commit_to ruled_out did_we_say did_we_discuss we_discussed ever_discuss discussion
		discussions was_discussed we_said did_we_promise promised assumptions story_behind reason_for reason_behind reasons_for
		background_on background_of stance our_position position_on lessons_learned takeaways action_item action_items
		open_questions move_away design_decision decision_log argument_against argument_for arguments_against arguments_for`},
	{"design", weights{docs: 1}, "design designed overview structure structured history background intended why_was why_were"},
	{"deciding", weights{docs: 1.3}, `
		character characters plot chapter protagonist storyline worldbuilding story we_define definition_of summarize summarise
		recap opinion opinions approach usually normally typically decide decides choose chooses say_about says_about said_about
		status considered discuss`},
	{"quoted-source", weights{docs: 3}, `
		according_to does_the_spec does_the_doc design_says spec_says docs_say readme_say notes_say`},
	{"document", weights{docs: 2.2}, `
		documented documentation docs doc document documents spec specs specification specifications requirements requirement
		acceptance_criteria user_story user_stories readme changelog wiki handbook runbook runbooks playbook postmortem postmortems
		post_mortem retrospective design_doc design_document design_docs proposal proposals glossary data_dictionary style_guide
		contributing_guide cheat_sheet whitepaper manual note notes my_notes vault design_say pitch written_down threat_model
		meeting_notes minutes checklist thread_on thread_about threads_about thread_with conversation_about conversation_with lore
		guide faq memo transcript journal diary charter onboarding_guide architecture_review rulebook`},
	{"governance", weights{docs: 2.5}, `
		phone_number take_care_of takes_care_of in_charge_of looks_after approved approve approves approval approvals rejected postponed chosen maintainer maintainers who_do_i who_should_i
		whom_do_i contact scheduled_for which_quarter domain_language we_name ubiquitous_language terminology named naming_of policy
		policies convention conventions guideline guidelines principles principle_behind strategy roadmap milestone milestones
		sprint backlog okr okrs onboarding code_review review_process release_process branching naming standup retro kickoff meeting
		meetings planning stakeholder stakeholders architecture architectural definition_of_done sla slas slo escalation on_call
		handover handovers owns ownership responsible vision mission target_date deadline rollout deprecating deprecation
		staging_environment access_to brand non_functional commit_message commit_messages next_steps success_criteria deliverable
		deliverables coding_standards naming_scheme error_budget hiring vacation_policy working_hours expenses use_cases use_case
		epic epics prd kpi kpis raci charter workshop known_issues user_research who_leads contact_person testing_strategy
		deployment_procedure project_status allowed_to responsible_for release_notes spike rollback_plan last_sprint drop_support
		minimum_supported high_level big_picture overview_of_the_system overall_architecture system_design workflow_for write_up
		business_case pitch_deck all_hands town_hall org_chart tone_of_voice travel_policy salary_bands benefits perks
		retrospectives one_on_one status_report weekly_report project_plan test_plan rollout_plan release_plan meeting_agenda agenda`},
	{"planning", weights{docs: 1.6}, `
		plan plans audit scope rule rules process customer prioritise prioritize prioritised prioritized triage meet met consultants
		consultant supplier agency contract contracts feedback revision compliance objective objectives goal goals budget
		limitations constraints risks owner owners interview planned motivation interviews criteria priorities priority timeline
		incident incidents results findings outcome outcomes draft drafts analysis usability_test load_test user_test user_tests
		offsite wireframe wireframes mockup mockups slides presentation survey_results pilot quarter quarterly committee
		board_meeting journey`},
	{"notes-of-mine", weights{docs: 4}, `
		my_notes my_note notes_on notes_about notes_tagged i_written i_wrote i_write did_i_write in_the_vault my_thoughts my_ideas
		my_research my_reading my_takeaways my_journal in_my our_wiki our_docs our_notes our_glossary our_handbook our_roadmap
		the_vault which_threads what_threads remind_me`},
	{"about-reply", weights{chat: 3}, `
		rephrase rephrase_that say_that_again repeat_that repeat_the_last what_do_you_mean what_did_you what_did_you_just your_last
		your_answer last_answer previous_answer your_previous you_said you_just you_told you_already you_mean are_you_sure
		i_do_not_understand not_what_i i_did_not_understand not_what_i_asked not_quite tell_me_more go_on please_continue start_over
		like_i_am_five eli5 in_other_words my_last_question last_point dumb_it_down elaborate elaborate_on_that your_point
		you_are_wrong that_was_wrong that_is_wrong you_misunderstood say_more more_details more_detail`},
	{"about-assistant", weights{chat: 4}, `
		who_are_you what_are_you about_yourself what_can_you how_can_you_help your_name are_you_human are_you_a are_you_an
		are_you_there are_you_real how_are_you how_is_it_going what_is_up can_you_hear who_made_you who_built_you you_there
		your_capabilities how_old_are_you`},
	{"small-talk", weights{chat: 3}, `
		never_mind nevermind forget_it no_worries no_problem not_at_all makes_sense sounds_good got_it i_see i_agree i_understand
		let_me_think one_moment just_a_moment talk_later see_you that_is_all that_is_it good_one did_the_trick that_helps
		that_helped exactly_what_i it_works_now works_now saved_me you_are_right good_point fair_enough good_to_know i_get_it
		all_good was_it_all will_try my_mistake my_bad well_done nice_work good_job great_job great_answer lovely_answer
		i_appreciate i_did_not_know all_clear all_well dumb_question answers_it that_answers very_helpful joke confused move_on
		what_else not_really do_not_think you_think what_do_you be_more more_specific of_course just_testing relief so_kind
		my_friend have_a_nice have_a_good not_sure i_guess i_hope fun funny brilliant i_love i_like i_hate long_day tired bored
		happy good_luck let_us_see will_do no_need who_am_i on_it sounds_like_a_plan me_too same_here come_again how_come wait_what
		hold_on nvm one_more_time once_more leave_it`},
	{"write-target", weights{write: 5}, `
		in_a_new into_a_new to_a_new to_a_file into_a_file as_a_new on_record to_my_notes to_the_vault to_the_thread into_the_vault
		as_a_note in_a_note a_note_about a_note_that new_note into_a_note to_a_note write_that_down write_this_down`},
}

// lookup finds features by word: exact words, stems and phrases by their first word.
type lookup struct {
	exact   map[string][]int
	stems   map[string][]int
	phrases map[string][]phrase
}

type phrase struct {
	words   []string
	feature int
}

var vocabularyIndex = newLookup(vocabulary)

func newLookup(features []lexical) lookup {
	l := lookup{exact: map[string][]int{}, stems: map[string][]int{}, phrases: map[string][]phrase{}}
	for i, f := range features {
		for _, entry := range strings.Fields(f.words) {
			words := strings.Split(strings.TrimSuffix(entry, "*"), "_")
			switch {
			case len(words) > 1:
				l.phrases[words[0]] = append(l.phrases[words[0]], phrase{words, i})
			case strings.HasSuffix(entry, "*"):
				l.stems[words[0]] = append(l.stems[words[0]], i)
			default:
				l.exact[words[0]] = append(l.exact[words[0]], i)
			}
		}
	}
	l.addSet(features, "software-part", softwareNouns, nil)
	l.addSet(features, "product", products, notEvidence)
	l.addSet(features, "program-verb", inflected(programVerbs), nil)
	return l
}

// addSet adds the words of a set, without exceptions, to the named feature.
func (l lookup) addSet(features []lexical, name string, words, except map[string]bool) {
	for i, f := range features {
		for w := range words {
			if f.name == name && !except[w] {
				l.exact[w] = append(l.exact[w], i)
			}
		}
	}
}

// inflected returns the forms that verbs take with a subject or in the passive: parses, parsed.
func inflected(verbs map[string]bool) map[string]bool {
	out := map[string]bool{}
	for v := range verbs {
		switch last := v[len(v)-1]; {
		case strings.HasSuffix(v, "ry"):
			out[v[:len(v)-1]+"ies"], out[v[:len(v)-1]+"ied"] = true, true
		case last == 'e':
			out[v+"s"], out[v+"d"] = true, true
		case last == 's', last == 'h', last == 'x':
			out[v+"es"], out[v+"ed"] = true, true
		default:
			out[v+"s"], out[v+"ed"] = true, true
		}
	}
	return out
}
