"""The model card of a trained model: what it is, how it scores, how it was made."""

from pathlib import Path
from typing import Any

import transformers
from huggingface_hub import EvalResult, ModelCard, ModelCardData
from transformers import PreTrainedModel

from .tasks import Task

_BODY = """---
{metadata}
---

# {name}

The Transformer of [Attention Is All You Need](https://arxiv.org/abs/1706.03762), trained for {description}
with `vaswani_mt`.

## Use

```python
import vaswani_mt
from transformers import pipeline

{usage}
```

## Scores

{scores}

## Training

{parameters:.1f}M parameters: {layers} layers, d_model {d_model}, {heads} heads, d_ff {d_ff}, {symbols} symbols.

```
{command}
```

## Limits

It has seen the text it was trained on and nothing else: expect it to fail on other domains and styles, and to
translate fluently what it does not know. Check its output before anybody relies on it. State the licence of the
training data before you share the model.
"""


def write_model_card(
    folder: str | Path, task: Task, model: PreTrainedModel, scores: dict[str, Any], command: str
) -> Path:
    """Write README.md into the model's folder, with the scores as `model-index` metadata.

    Args:
        folder: where the model was saved.
        task: knows the languages and the data set.
        model: for its configuration.
        scores: figures as `Trainer.evaluate` names them: SPLIT_METRIC, and SPLIT_METRIC_signature.
        command: what trained the model.

    Returns:
        The path of the card.
    """
    folder = Path(folder)
    about = task.card()
    figures = [
        (split, metric, value)
        for split in ("validation", "test")
        for metric in ("bleu", "chrf", "loss", "perplexity")
        if (value := scores.get(f"{split}_{metric}")) is not None
    ]
    results = [
        EvalResult(
            task_type=about["task"],
            dataset_type=about["dataset"],
            dataset_name=about["dataset"],
            dataset_split=split,
            metric_type=metric,
            metric_name=scores.get(f"{split}_{metric}_signature", metric),
            metric_value=round(value, 4),
        )
        for split, metric, value in figures
    ]
    data = ModelCardData(
        model_name=folder.resolve().name,
        language=about["languages"],
        library_name="transformers",
        pipeline_tag=about["task"],
        tags=["vaswani", "attention-is-all-you-need"],
        eval_results=results or None,
    )
    rows = ["| split | metric | value | signature |", "|---|---|---|---|"]
    rows += [f"| {s} | {m} | {v:.2f} | {scores.get(f'{s}_{m}_signature', '')} |" for s, m, v in figures]
    config = model.config
    text = _BODY.format(
        metadata=data.to_yaml(),
        name=folder.resolve().name,
        description=about["description"],
        usage=about["usage"].format(model=folder.resolve().name),
        scores="\n".join(rows) if figures else "Not evaluated.",
        parameters=model.num_parameters() / 1e6,
        layers=f"{config.encoder_layers}+{config.decoder_layers}",
        d_model=config.d_model,
        heads=config.encoder_attention_heads,
        d_ff=config.encoder_ffn_dim,
        symbols=config.vocab_size,
        command=command,
    )
    text += f"\nTrained with transformers {transformers.__version__}.\n"
    ModelCard(text).save(folder / "README.md")
    return folder / "README.md"
