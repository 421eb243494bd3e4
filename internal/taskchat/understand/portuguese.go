package understand

import (
	"slices"
	"strings"
)

func portuguese() language {
	return language{
		code:      "pt",
		endings:   "o a os as",
		core:      "tarefa tarefas lista lembrete lembretes favor",
		pastAlone: true,
		classes: map[class]string{
			vRemind: `me_lembra_de me_lembre_de me_lembrar_de  me_lembra:1 me_lembre:1 me_lembrar:1 me_lembra_do me_lembra_da
			me_lembra_dos me_lembra_das me_lembre_do me_lembre_da me_lembre_dos me_lembre_das me_lembrar_do me_lembrar_da lembra_-me_de lembre_-me_de
			lembra_-me_do lembra_-me_da lembre_-me_do lembre_-me_da lembra_-me:1 lembre_-me:1 lembrar_-me_de
			lembra_me_de lembre_me_de lembrar_de lembra_de lembre_de lembrete_para lembre_se_de não_me_deixa_esquecer_de não_me_deixe_esquecer_de
			não_me_deixa_esquecer não_me_deixe_esquecer não_me_deixes_esquecer_de não_me_deixes_esquecer não_me_deixa_esquecer_do
			não_me_deixa_esquecer_da não_me_deixe_esquecer_do não_me_deixe_esquecer_da não_deixa_eu_esquecer_de não_deixe_eu_esquecer_de
			não_deixa_eu_esquecer não_deixe_que_eu_esqueça_de
			não_esquece_de não_esqueça_de não_esquecer_de não_esquecer não_esqueça não_esquece não_esquecer_do não_esquecer_da não_esqueça_do
			não_esqueça_da não_posso_esquecer_de não_posso_esquecer não_posso_esquecer_do não_posso_esquecer_da não_posso_me_esquecer_de me_avisa_de
			me_avise_de me_avisa_para me_avise_para me_avisa:1 me_avise:1 não_te_esqueças_de não_me_posso_esquecer_de me_lembre_para lembra_-te_de lembra_-te:1 lembrar_-me:1
			lembrar_-me_que:1 me_lembrar_que:1 não_te_esqueças não_te_esqueças_de não_te_esqueças_do não_te_esqueças_da não_esqueças não_esqueças_de avisa_-me_de avisa_-me:1
			avise_-me:1 avise_-me_de não_se_esqueça_de não_se_esqueça não_me_posso_esquecer não_me_esquecer_de não_me_esquecer lembrar_-me_do lembrar_-me_da recorda_-me_de recorde_-me_de
			recorda_-me:1 faz_-me_lembrar_de lembrança_de não_deixes_que_eu_me_esqueça_de não_deixes_que_eu_me_esqueça_do não_deixes_que_eu_me_esqueça_da não_deixe_que_eu_me_esqueça_de`,
			vNeed: `preciso:1 eu_preciso:1 preciso_de:1 eu_preciso_de:1 ainda_preciso:1 ainda_preciso_de:1 também_preciso:1 também_preciso_de:1
			tenho_que tenho_de eu_tenho_que eu_tenho_de ainda_tenho_que ainda_tenho_de também_tenho_que devo eu_devo deveria eu_deveria eu_devia
			precisamos:1 precisamos_de:1 temos_que temos_de vou eu_vou necessito:1 necessito_de:1 tô_precisando:1 tô_precisando_de:1
			estou_precisando:1 estou_precisando_de:1 preciso_mesmo tenho_mesmo_de falta_eu a_gente_tem_que a_gente_precisa:1 a_gente_tem_de temos_mesmo_de falta_-me falta_me tenho_ainda_de tenho_ainda_que
			estou_a_precisar_de:1 estou_a_precisar:1 convém_eu é_preciso:1 é_preciso_eu tenho_também_de também_tenho_de tenho_mesmo_que`,
			vCreate: `adiciona adicione adicionar adiciona_aí acrescenta acrescente acrescentar cria:1 crie:1 criar:1 anota anote anotar anota_aí
			anote_aí inclui inclua incluir insere insira inserir registra registre registrar nova_tarefa novo_item novo_lembrete nova_entrada
			outra_tarefa mais_uma_tarefa tarefa:2 lembrete:2 faz_uma_tarefa faça_uma_tarefa regista registe  toma_nota toma_nota_de tome_nota tome_nota_de tomar_nota_de toma_aí_nota uma_nova_tarefa:2 uma_tarefa_nova:2 coloca_mais_uma:2 mais_uma:2 aponta_aí` + portugueseVerbs(`adicionar acrescentar anotar apontar criar:1 incluir/inclui registrar registar inserir/insira,insiras agregar somar`) + ` `,
			vPut:    `bota bote botar coloca coloque colocar põe ponha pôr joga jogue tira tire tirar escreve escreva risca risque mete meta ` + portugueseVerbs(`botar colocar jogar tirar meter escrever pendurar`) + ` `,
			vDelete: `apaga apague apagar deleta delete deletar exclui exclua excluir remove remova remover elimina elimine eliminar apagues apagas  fora_com` + portugueseVerbs(`apagar deletar excluir/exclui remover eliminar retirar`) + ` `,
			vDeleteWeak: `tira tire tirar cancela cancele cancelar limpa limpe limpar descarta descarte descartar esvazia esvazie esvaziar joga_fora
			jogue_fora jogar_fora some_com suma_com deita_fora  desiste_de desiste_da desiste_do deite_fora deitar_fora livra_-te_de livra_-te_da livra_-te_do` + portugueseVerbs(`tirar cancelar limpar descartar esvaziar`) + ` `,
			vComplete: `conclui conclua concluir completa complete completar finaliza finalize finalizar dá_baixa_em dê_baixa_em dar_baixa_em
			dá_baixa_na dê_baixa_na dar_baixa_na dá_baixa_no dê_baixa_no dá_baixa_nas dá_baixa_nos  dá_baixa_da dá_baixa_do dá_baixa_de dê_baixa_da dar_baixa_da dar_baixa dá_baixa dê_baixa dá_por_concluída dá_por_concluído dá_por_feita dá_como_concluída dá_como_feita` + portugueseVerbs(`concluir/conclui completar finalizar`) + ` `,
			vCompleteWeak: `termina termine terminar acaba acabe acabar fecha feche fechar encerra encerre encerrar risca risque riscar tica ticar resolve
			resolva ` + portugueseVerbs(`terminar acabar fechar encerrar riscar ticar resolver`) + ` `,
			vUpdate: `atualiza atualize atualizar edita edite editar modifica modifique modificar actualiza actualize actualizar ` + portugueseVerbs(`atualizar editar modificar`) + ` `,
			vUpdateWeak: `muda:1 mude:1 mudar:1 altera:1 altere:1 alterar:1 troca:1 troque:1 trocar:1 corrige corrija corrigir substitui substitua
			substituir define defina definir coloca coloque põe ponha ajusta ajuste ajustar  dá dê transforma transforme transformar chama:2 chame:2` + portugueseVerbs(`mudar:1 alterar:1 trocar:1 corrigir/corrige,corrija,corrijas substituir/substitui`) + ` `,
			vRename: `renomeia renomeie renomear rebatiza rebatize ` + portugueseVerbs(`renomear/renomeia,renomeie,renomeies rebatizar intitular`) + ` `,
			vMove: `adia adie adiar move mova mover passa passe passar remarca remarque remarcar transfere transfira transferir empurra empurre
			joga_pra`,
			vReopen: `reabre reabra reabrir desmarca desmarque desmarcar reativa reative reativar  abre_de_novo abra_de_novo abrir_de_novo volta_a_abrir volte_a_abrir voltar_a_abrir abre_novamente abre_outra_vez` + portugueseVerbs(`reabrir desmarcar reativar`) + ` `,
			vMark:   `marca marque marcar coloca coloque define defina põe ponha passa passe muda mude altera altere dá dê atualiza atualize  volta_a_pôr volta_a_marcar volta_a_colocar dar ` + portugueseVerbs(`marcar assinalar sinalizar`) + ` `,
			vList: `mostra mostre mostrar lista liste listar exibe exiba exibir ver vê veja me_mostra me_mostre me_diz me_diga quero_ver apresenta
			apresente diz diga dá dê me_dá me_dê mostra_-me mostre_-me diz_-me me_fala me_fale me_lembra_o_que me_passa lê leia  abre abra abrir lê_-me lê leia_-me dá_-me dê_-me passa_-me passa passe_-me me_passe mostrar_-me dizer_-me diz_-me deixa_-me_ver deixa_eu_ver deixe_-me_ver deixa_ver deixe_eu_ver me_deixa_ver me_deixe_ver me_mostrar me_dizer me_dar` + portugueseVerbs(`mostrar listar apresentar`) + ` `,
			vFind: `procura:1 procure:1 procurar:1 busca:1 busque:1 buscar:1 acha:1 ache:1 achar:1 encontra:1 encontre:1 encontrar:1 pesquisa
			pesquise pesquisar procura_por procure_por busca_por busque_por filtra filtre filtrar`,
			vUndo: `desfaz desfaça desfazer desfaz_isso reverte reverta reverter volta_atrás anula anule anular restaura restaure desfaz_aí  volta_para_trás voltar_atrás voltar_para_trás desfaz_lá` + portugueseVerbs(`desfazer/desfaz,desfaça,desfaças reverter anular restaurar recuperar`) + ` `,
			vGive: `dá dê dar`,
			vErrand: `compra compre liga ligue paga pague manda mande envia envie leva leve pega pegue faz faça agenda agende escreve escreva lava lave
			limpa limpe marca marque reserva reserve busca busque devolve devolva conserta conserte arruma arrume prepara prepare
			cozinha cozinhe estuda estude lê leia liga_para ligue_para visita visite organiza organize verifica verifique imprime imprima traz traga
			renova renove cancela cancele ir ver pôr dar ler pagar comprar ligar levar`,
			fAsk: `você_pode vc_pode pode poderia você_poderia vc_poderia dá_pra dá_para consegue você_consegue podes podias tu_podes pode_por_favor
			será_que_você_pode será_que_dá_pra será_que_você_poderia quero_que_você queria_que_você gostaria_que_você faz_o_favor_de faça_o_favor_de
			por_gentileza você_me_faz_o_favor_de tem_como_você se_importa_de você_deve você_tem_que preciso_que_você quero_que podia você_podia
			poderias você_já_pode seria_possível importas_-te_de importa_-se_de te_importas_de se_importaria_de importavas_-te_de importaria_-se_de você_me pode_me poderia_me podia_me você_pode_me podes_me
			vais consegues conseguias dá_para_você gostava_que gostaria_que queria_que agradecia_que eras_capaz_de és_capaz_de é_possível_você quer_fazer_o_favor_de
			peço_que peço_-te_que pedia_-te_que pedia_que será_que_podias será_que_podes será_que_poderias faz_-me_o_favor_de você_conseguiria preferia_que prefiro_que`,
			fWish: `quero eu_quero gostaria_de eu_gostaria_de queria eu_queria vamos desejo bora gostava_de gostaria_antes_de preferia prefiro`,
			fFiller: `antes_que_eu_me_esqueça antes_que_me_esqueça antes_que_eu_esqueça antes_que_esqueça por_favor favor pf pfv pfvr por_gentileza então também agora depois aí ok okay olá oi ei só já ainda bem bom logo assistente sibyl
			aliás além_disso e_então e_depois em_seguida por_fim finalmente primeiro rapidinho mas se_faz_favor faz_favor simplesmente imediatamente
			novamente de_novo se_possível se_puder tipo olha antes em_vez_disso ao_invés_disso ora_bem lá novamente outra_vez afinal cá pá aí_então entretanto
			na_mesma `,
			fMe: `me mim pra_mim para_mim nos -me para_nós pra_gente`,
			fGreet: `oi olá bom_dia boa_tarde boa_noite e_aí tchau até_logo até_amanhã até_mais tudo_bem tudo_bom como_vai como_você_está como_estás alô
			ola fala opa beijos abraços bom_fim_de_semana adeus tchau_tchau bom_descanso boa_noite_e_bom_descanso bom_trabalho boas até_já até_breve até_à_próxima cumprimentos bom_dia_para_ti boa_semana`,
			fThanks: `obrigado obrigada muito_obrigado muito_obrigada valeu brigado brigada agradeço obg vlw é_só_isso é_só é_tudo é_tudo_por_hoje por_hoje_é_tudo por_hoje_é_só era_só_isso era_tudo é_isso_por_hoje mais_nada não_preciso_de_mais_nada grato grata agradecido agradecida muito_obrigada_pela_ajuda
			obrigado_pela_ajuda obrigada_pela_ajuda é_só_por_hoje por_agora_é_tudo por_hoje_chega`,
			fHedge: `talvez acho_que quem_sabe provavelmente possivelmente não_sei_se não_tenho_certeza não_sei sei_lá um_dia_desses pergunto_me será`,
			fReport: `disse diz falou fala pediu pede perguntou escreveu mandou contou acha pensa achou quer queria respondeu sugeriu afirmou dizendo
			a_frase citação`,
			fIf: `se quando caso a_menos_que assim_que e_se antes_que supondo imagina_se desde_que`,
			fAsking: `o_que que qual quais como quando onde quem por_que porque cadê quantas quantos será_que posso podemos devo_eu devemos deveria_eu
			existe existem há tem_alguma tem_algum tem_alguma_coisa tem_algo é_possível tem_como você_apagou você_já você_excluiu você_deletou
			você_adicionou você_removeu você_criou o_quê pra_que para_que que_tarefas tem_tarefas por_quê eu_posso dá_pra_eu =é_possível
			a_gente_pode porquê apagaste eliminaste concluíste adicionaste marcaste mudaste já_apagaste já_concluíste já_adicionaste removeste`,
			fAux:     `está estão foi foram são tem têm pode podem deve devem =é`,
			fSubject: `eu você vc tu ele ela nós vocês eles elas isso isto alguém ninguém a_gente te`,
			fPerfect: `eu já eu_já já_eu acabei_de:1 eu_acabei_de:1 acabo_de:1 ontem_eu hoje_eu finalmente já_me a_gente_já eu_já_me`,
			fTalk: `legal massa show bacana ótimo ótima incrível interessante perfeito haha kkk kkkk rsrs nossa uau puxa que_bom que_legal que_pena
			desculpa desculpe foi_mal hmm hm ah ih sem_problema sem_problemas de_nada imagina tranquilo maravilha excelente bom teste beleza top
			fixe és estou_cansado estou_cansada conta_-me_uma conta_uma conte_-me_uma me_conta_uma fantástico espetáculo espectáculo porreiro giro gosto amo adoro odeio tenho_fome tenho_sede tenho_sono tenho_frio`,
			fBe: `está estou estava foi era sou são tem tinha gosto gosta amo ama acho acha sei sinto adoro adora odeio parece fica ficou vai =é
			estão estamos chove choveu funciona não_sei`,
			fStative: `gostei amei adorei odiei pensei achei senti fui sei hei dei_conta esqueci dormi perdi sonhei chorei tentei decidi comecei entendi
			ouvi vi queria fiquei apaguei deletei exclui removi adicionei criei mudei alterei renomeei errei cansei falei errado dancei ri`,
			fUhm:     `ahm hum éh ehm ahn hmm`,
			fAskIf:   `se_pudesses se_pudesse se_você_pudesse se_você_puder se_puderes`,
			fClausal: `verifica verifique verificar confirma confirme confirmar pergunta pergunte perguntar espera espere diz diga dizer`,
			fHelp: `ajuda me_ajuda me_ajude ajude_me o_que_você_faz o_que_você_pode_fazer o_que_você_sabe_fazer o_que_posso_fazer o_que_posso_dizer
			quem_é_você o_que_é_você como_funciona como_isso_funciona como_faço como_eu_faço como_posso como_eu comandos instruções preciso_de_ajuda
			socorro como_é_que_eu como_se como_apago como_concluo como_adiciono como_crio como_marco como_excluo como_mudo como_faz o_que_sabes_fazer o_que_podes_fazer o_que_consegues_fazer o_que_você_consegue_fazer o_que_fazes que_sabes_fazer como_é_que_apago como_é_que_adiciono como_é_que_concluo como_é_que_marco como_é_que_mudo como_é_que_funciona como_é_que_se como_é_que como_elimino como_removo como_edito como_altero quem_és`,
			fAgain: `quer_dizer quis_dizer eu_quis_dizer digo ou_melhor aliás não_espera espera correção ops peraí melhor_dizendo na_verdade quero_dizer
			eu_queria_dizer não_desculpa desculpa quero_dizer engano enganei_-me me_enganei`,

			fMeant: `quis_dizer eu_quis_dizer queria_dizer eu_queria_dizer estava_a_falar eu_estava_a_falar estava_falando eu_estava_falando referia_-me
			me_referia era_para_ser devia_ser eu_falava falava eu_disse pensava_em`,
			fToo: `também igualmente da_mesma_forma o_mesmo_para o_mesmo_com a_mesma_coisa_com e_também idem_para do_mesmo_modo faz_o_mesmo_com e_quanto:1
			idem faça_o_mesmo_com`,
			fClosing: `por_hoje para_hoje hoje por_agora por_enquanto com_isto com_isso aqui por_esta_semana o_meu_dia meu_dia`,
			fCould:   `pode podes poderia poderias podia podias consegue consegues`,

			yStrong: `sim s ss claro pode isso isso_mesmo isso_aí exato exatamente com_certeza certeza confirmo confirma confirmado confirme positivo
			pode_ser pode_sim manda_ver vai_em_frente vá_em_frente faz_isso faça_isso faça faz manda_bala uhum aham correto é_isso é_isso_aí
			por_favor_sim claro_que_sim tenho_certeza podes afirmativo bora manda sim_senhor siga prossiga avance 👍 ✅ 👌 ✔ 🆗 força força_nisso avança avançar certíssimo claro_que_pode podes_sim com_toda_a_certeza é_essa_mesmo é_essa é_esse é_esse_mesmo é_isso_mesmo faz_lá_isso faz_lá sem_dúvida evidentemente ya pois pode_ir tenho_a_certeza sim_tenho sim_sim_sim ok_pode positivo_e_operante pode_apagar podes_apagar pode_excluir pode_remover pode_deletar podes_eliminar podes_remover pode_eliminar`,
			yWeak: `ok okay tá ta tá_bom ta_bom beleza blz certo bom tudo_bem tá_certo ótimo perfeito está_bem de_acordo combinado está_bom`,
			yNo: `não nao n nn de_jeito_nenhum nunca negativo melhor_não não_precisa não_faz_isso não_faça_isso claro_que_não de_forma_alguma
			nem_pensar não_obrigado não_obrigada prefiro_não acho_que_não 👎 ❌ ✖ 🚫 de_maneira_nenhuma de_modo_nenhum de_modo_algum de_jeito_algum antes_não foi_engano não_quero`,
			yCancel: `deixa deixa_pra_lá deixa_para_lá deixa_quieto deixa_assim deixe deixa_estar deixe_pra_lá deixe_para_lá cancela cancelar cancele
			cancela_isso esquece esquece_isso esqueça pare para_com_isso agora_não mudei_de_ideia desisto não_quero_mais espera pera peraí hoje_não
			ainda_não nada deixa_como_está deixa_isso mantém mantenha deixa_lá deixe_lá deixa_ficar deixe_ficar foi_engano esqueça_isso esquece_lá deixa_isso_lá mudei_de_ideias`,
			yMaybe: `talvez mas depois mais_tarde se sei_lá não_sei quem_sabe porém acho será quase hm hmm por_que ou primeiro só_se depende provavelmente`,
			yThat: `isso ela ele essa esse esta este você vc pode por_favor obrigado obrigada agora então a o as os -a -o -la -lo quero já sim tarefa
			a_tarefa essa_tarefa tá bom mesmo com favor lá aí eu se_faz_favor tenho a_certeza dela dele ir todas_elas embora podes faz já_não_preciso_dela já_não_preciso_dele não_preciso_mais_dela não_preciso_mais_dele já_não_preciso não_preciso_mais pode_ir pode_sair vai`,

			yInsist: `mesmo de_verdade a_sério sério com_certeza sim_com_certeza tenho_certeza tenho_a_certeza certeza de_vez para_sempre definitivamente
			absolutamente sem_dúvida claro sim_sim sem_falta sim_mesmo estou_certo estou_certa insisto`,

			rArticle: `a o as os minha meu minhas meus essa esse essas esses esta este estas estes aquela aquele nossa nosso nossas nossos sua seu
			toda_a todo_o`,
			rIndefinite: `um uma mais_um mais_uma outro outra uns:1 umas:1 alguma:1 algumas:1 algum:1 alguns:1 várias:1 qualquer:1 a_maioria:1`,
			rTask:       `tarefa item lembrete entrada todo pendência opção posição coisa afazer`,
			rTasks:      `tarefas itens lembretes entradas todos pendências opções posições coisas afazeres seguintes o_seguinte tarefas_todas`,
			rList:       `lista listas lista_de_tarefas lista_de_afazeres lista_de_compras lista_de_pendências agenda checklist lista_completa lista_toda lista_inteira`,
			rListKind:   `inteira toda completa atual`,
			rThese:      `essas esses estas estes aquelas aqueles`,
			rIt: `isso isto ela ele essa esse esta este aquela aquele -a -o -la -lo -as -os -las -los elas eles essas esses essa_aí esse_aí
			esta_aqui a_mesma o_mesmo aquilo isso_aí -lhe -lhes`,
			rAll:    `todas todos toda todo todas_as todos_os cada `,
			rWhole:  `inteira inteiro toda`,
			rEach:   `tudo todas_elas todos_eles cada_uma cada_um tudo_isso todas todos tudo_o_que_está tudo_que_está todas_as_que_estão todos_os_que_estão as_que_estão tudo_isto`,
			rBoth:   `ambas ambos as_duas os_dois ambas_as ambos_os as_três:3 os_três:3 as_quatro:4 os_quatro:4 todas_as_três:3 todos_os_três:3`,
			rExcept: `menos exceto fora salvo com_exceção_de com_exceção_da a_não_ser mas_não tirando à_exceção_de`,
			rNumber: `um:1 uma:1 dois:2 duas:2 três:3 quatro:4 cinco:5 seis:6 sete:7 oito:8 nove:9 dez:10 onze:11 doze:12 treze:13 catorze:14
			quatorze:14 quinze:15 dezesseis:16 dezessete:17 dezoito:18 dezenove:19 vinte:20`,
			rOrdinal:    `primeir~:1 segund~:2 terceir~:3 quart~:4 quint~:5 sext~:6 sétim~:7 oitav~:8 non~:9 décim~:10 últim~:-1 penúltim~:-2 antepenúltim~:-3`,
			rNumeroSign: `número num nº n.º números n`,
			rOf:         `de da do das dos na no nas nos em`,
			rAnd:        `=e & + mais bem_como e_também`,
			rOr:         `ou`,
			rThrough:    `a até à ao -`,
			rAbout: `de da do das dos sobre com chamada chamado para pra que_fala_de relacionada_a intitulada intitulado que_diz referente_a
			com_o_título com_o_nome com_título relacionadas_a a_ver_com da a_da a_do com_a com_o que_tem_a_ver_com sobre_a sobre_o relativa_a relativas_a a_respeito_de`,
			rNone:    `nenhuma nenhum nenhuma_delas nenhum_deles nem_uma_nem_outra nada nenhuma_das_duas nenhum_dos_dois nada_disso`,
			rNot:     `não nao nunca jamais nem`,
			rNew:     `nov~ outr~ mais`,
			rAnother: `outr~ resto próxim~ restante restantes demais`,

			rMiddle: `do_meio no_meio a_do_meio o_do_meio que_está_no_meio central do_centro`,
			rEnd: `de_cima:1 em_cima:1 no_topo:1 do_topo:1 de_baixo:-1 em_baixo:-1 no_fim:-1 do_fim:-1 no_final:-1 do_final:-1 no_início:1 do_início:1
			a_contar_do_fim:-1 a_contar_do_início:1 lá_de_cima:1 lá_de_baixo:-1 mais_acima:1 mais_abaixo:-1`,
			rOnly: `só apenas somente`,
			rBeside: `antes_da:-1 antes_do:-1 anterior_à:-1 anterior_ao:-1 acima_da:-1 acima_do:-1 logo_antes_da:-1 depois_da:1 depois_do:1 a_seguir_à:1
			a_seguir_ao:1 logo_depois_da:1 abaixo_da:1 abaixo_do:1 por_cima_da:-1 por_baixo_da:1 seguinte_à:1`,
			rIts: `dela dele delas deles seu sua seus suas -lhe`,

			tOnto:   `na à pra para_a`,
			tGoes:   `vai entra fica mais também`,
			tTick:   `visto check certo vezinho visto_verde tique`,
			tCalled: `deve_chamar_-se passa_a_chamar_-se vai_chamar_-se deve_se_chamar passa_a_se_chamar agora_chama_-se agora_se_chama passa_a_ser chama_-se_agora chama_-se`,
			tTo:     `à a ao na no às aos nas nos em para pra pro`,
			tFrom:   `da do das dos de`,
			tAs:     `como para pra por em de_volta_para`,
			tInto:   `para pra por como em pro -> : = a com`,
			tDone:   `feit~ concluíd~ pront~ terminad~ completad~ finalizad~ acabad~ resolvid~ complet~ ok fech~ encerrad~ marcad~ já_está já_estão já_foi já_foram`,
			tUndone: `pendente pendentes abert~ incomplet~ não_concluíd~ não_feit~ não_terminad~ por_fazer em_aberto inacabad~ a_fazer ativ~ não_pront~
			não_completad~ ainda_não_feit~ ainda_não_concluíd~ aberto`,
			tStill: `falta faltam falta_fazer resta restam pendente pendentes ainda tenho_que tenho_de preciso eu_tenho_que eu_preciso tenho_que_fazer
			tenho_de_fazer preciso_fazer por_fazer a_fazer em_aberto abert~ devo_fazer próxim~ sobrou atrasad~ ainda_tenho tenho_para_fazer tenho_pra_fazer para_fazer pra_fazer`,
			tNewest: `mais_recentes mais_recente mais_novas mais_novos mais_nova recentes mais_recentes_primeiro mais_novas_primeiro
			últimas_adicionadas decrescente as_mais_recentes_primeiro`,
			tDesc:  `descrição:1 nota notas observação detalhe detalhes comentário anotação obs descrições`,
			tTitle: `título nome texto títulos `,
			tWith:  `com com_a com_uma e_com`,
			tAnchor: `eu_tenho tenho hoje amanhã esta_semana essa_semana na_agenda planejad~ eu_fiz:1 já_fiz:1 concluí:1 terminei:1 completei:1 fiz:1
			temos fim_de_semana na_minha_agenda nesta_semana nessa_semana marcad~ semana_que_vem`,
			tInList: `o a os as que é são tem tenho há está estão eu me de da do das dos na no nas nos em para pra pro hoje amanhã agora tudo todas
			todos fazer já até semana mês dia minha meu minhas meus lista quais qual quantas quantos um uma e existe existem ver tarefas foi ainda aí
			segunda terça quarta quinta sexta sábado domingo alguma algum coisa por favor manhã tarde noite vem próxim~ mais mesmo feira só apenas somente ordem sim`,
			tInfTo: `de que para do da dos das pra que_eu_tenho_que que_eu_preciso que_tenho_de que_tenho_que que_preciso que_preciso_de que_tenho_de que_vou que`,
			tThat:  `de para do da pra`,
			tPast: `fiz escrevi vendi li pus trouxe comi bebi abri corri saí resolvi respondi recebi =concluí concluí_a cumpri devolvi imprimi reuni
			colhi cozi preenchi troquei fui_a fui_ao fui_à transferi tratei_de tratei_da tratei_do dei escolhi vesti construí instalei pedi pus_a fiz_a fiz_o cosi varri bati fui_à fui_aos fui_às fui_no fui_na`,
			tEnding: `por_favor pf pfv obrigado obrigada por_gentileza se_puder se_possível tá tá_bom ok valeu pra_mim para_mim sim se_faz_favor
			faz_favor né se_não_te_importas se_não_se_importa quando_puderes quando_puder obrigadinho por_favorzinho`,
			tNoInf: `lugar mulher colher celular jantar bar mar par dar_lugar familiar escolar circular popular militar solar pilar dólar açúcar
			hambúrguer qualquer sequer zíper computador pôster líder poder ar ler_se elementar particular similar regular lar olhar super`,
			tBack:   `ele ela eles elas lhe -lo -la -o -a`,
			tSaying: `dizendo que para como`,
			tStatus: `status estado situação`,
			tThen:   `depois e_depois então e_então em_seguida também além_disso por_fim`,
			tChange: `alteração mudança ação última_alteração última_ação última_mudança`,
			tPassive: `apagada apagadas excluída excluídas deletada removida adicionada alterada concluída apagar excluir deletar remover adicionar
			concluir apago excluo deleto`,
			tWhereIs: `quando_é onde_está tem_alguma_coisa tem_alguma_tarefa tem_algo tenho_alguma_coisa tenho_algo tenho_alguma_tarefa
			existe_alguma_tarefa há_alguma_tarefa quando_tenho quando_tenho_que o_que_é:2 qual_é:2 tem_tarefas quando há_alguma_coisa há_algo há_alguma_tarefa_sobre há_tarefas tenho existe_algo o_que_diz:2 que_diz:2`,
			tLink:      `está foi =é estão foram ficou já_está já_foi tá estou são`,
			tAlready:   `já agora finalmente hoje ontem`,
			tInsteadOf: `em_vez_disso antes ao_invés_disso`,
			tPick:      `pega quero escolho eu_quero é =é seria_a a_opção prefiro fica_com fico_com vou_de eu_escolho quis_dizer me_refiro_a é_a escolhe era era_a queria`,
			tItIs:      `está_feito isso_está =está tá já_está`,
			tShould:    `deve_ser devia_ser tem_de_ser tem_que_ser passa_a_ser`,
			tNeedless: `não_preciso_mais_de não_preciso_mais_da não_preciso_mais_do não_preciso_mais_das já_não_preciso_de já_não_preciso_da já_não_preciso_do
			já_não_preciso_das já_não_quero não_quero_mais já_não_tenho_de já_não_tenho_que não_preciso_mais não_tenho_mais_que já_não_preciso`,
			tGone: `pode_ser_apagad~ pode_ser_eliminad~ pode_ser_excluíd~ pode_ser_removid~ pode_ser_deletad~ podem_ser_apagad~ podem_ser_excluíd~ pode_sair
			pode_ir_embora podem_sair pode_sair_da_lista já_não_é_precis~ já_não_é_necessári~ não_é_mais_necessári~ não_é_mais_precis~ já_não_interessa
			não_interessa_mais já_não_preciso não_preciso_mais foi_cancelad~ está_cancelad~ pode_desaparecer pode_ir_fora ficou_sem_efeito já_não_faz_falta
			deve_ser_apagad~ podem_ser_removid~ podem_ser_eliminad~ não_precisa_mais_ser_feit~ perdeu_o_sentido já_não_se_aplica`,
			tTime:  `para pra até amanhã hoje na próxima no às em`,
			tLeads: `chama_de chame_de deve_ser o_novo_título_é o_título_é novo_título título deve_se_chamar muda_para mude_para chama_-lhe chame_-lhe deve_chamar_-se chama_-se vai_chamar_-se põe_o_nome deve_chamar_se`,
		},
		split: map[class]string{
			vReopen: `deixa…em_aberto`,
		},
		order: portugueseOrder,
		infinitive: func(t token, _ bool) bool {
			w := t.norm
			return t.kind == word && len(w) >= 4 && (strings.HasSuffix(w, "ar") || strings.HasSuffix(w, "er") || strings.HasSuffix(w, "ir"))
		},
		past: func(w string) bool { return len(w) >= 5 && strings.HasSuffix(w, "ei") },
		participle: func(w string) bool {
			w = strings.TrimSuffix(w, "s")
			if slices.Contains([]string{"pago", "paga", "lido", "lida", "limpo", "limpa", "feito", "feita", "posto", "posta", "ganho", "ganha", "gasto",
				"entregue", "entregues", "aceite", "escrito", "escrita", "aberto", "visto", "vista", "dito", "dita", "impresso", "impressa", "cozido"}, w) {
				return true
			}
			return len(w) >= 5 && (strings.HasSuffix(w, "ado") || strings.HasSuffix(w, "ada") || strings.HasSuffix(w, "ido") || strings.HasSuffix(w, "ida"))
		},
	}
}
