import pytest

from veneer.formats.module_names import split_module

Q = "model.layers.11.self_attn.q_proj"


@pytest.mark.parametrize(
    ("name", "prefix", "module"),
    [
        (Q, "", Q),
        ("lora_te_model_layers_11_self_attn_q_proj", "lora_te_", Q),
        ("lora_te2_model_layers_11_self_attn_q_proj", "lora_te2_", Q),
        ("lycoris_model_layers_11_self_attn_q_proj", "lycoris_", Q),
        (f"text_encoder.{Q}", "text_encoder.", Q),
        (f"text_encoder_3.{Q}", "text_encoder_3.", Q),
        (f"base_model.model.{Q}", "base_model.model.", Q),
        (f"base_model.model.text_encoder.{Q}", "base_model.model.text_encoder.", Q),
        ("lora_lm_head", "lora_", "lm_head"),
        # `transformer` is a prefix of diffusers, and the first word of some models' own paths.
        (f"transformer.{Q}", "transformer.", Q),
        ("transformer.h.0.attn.c_attn", "", "transformer.h.0.attn.c_attn"),
        ("transformer.transformer.h.0.mlp.c_fc", "transformer.", "transformer.h.0.mlp.c_fc"),
        ("lora_transformer_h_0_attn_c_attn", "lora_", "transformer.h.0.attn.c_attn"),
        # Numbers that are no layer's: a part of a module's name, and an expert's.
        ("lora_transformer_h_1_mlp_c_fc_0", "lora_", "transformer.h.1.mlp.c_fc_0"),
        (
            "lora_model_layers_3_mlp_experts_5_gate_proj",
            "lora_",
            "model.layers.3.mlp.experts.5.gate_proj",
        ),
    ],
)
def test_names_of_language_models(name: str, prefix: str, module: str):
    assert split_module(name) == (prefix, module)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "lora_",
        "lora_unet_down_blocks_0_attentions_0_proj_in",
        "lora_te_text_model_encoder_layers_0_self_attn_q_proj",
        "transformer.transformer_blocks.0.attn.to_q",
        "lora_transformer_h_1_mlp_c_fc_2",  # exaone has 0 and 1
        "lora_model_layers_00_self_attn_q_proj",
        "model.layers.0.self_attn.q_projx",
        "xmodel.layers.0.self_attn.q_proj",
    ],
)
def test_names_of_nothing_known(name: str):
    assert split_module(name) is None
